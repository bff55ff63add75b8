import { expect, it } from 'vitest'
import { proveOneWinner } from './winners.ts'

it('a hundred asks, a thousand answers each: a hundred winners', async () => {
  expect(await proveOneWinner(100, 'nothing')).toEqual({
    asks: 100,
    answers: 100_000,
    winners: 100,
    misreported: 0,
  })
})

it('control: answering what is closed has many winners', async () => {
  const report = await proveOneWinner(2, 'answering what is closed')
  console.log(JSON.stringify(report))
  expect(report.winners).toBeGreaterThan(report.asks)
})
