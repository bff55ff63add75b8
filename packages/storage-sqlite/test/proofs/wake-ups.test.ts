import { expect, it } from 'vitest'
import { proveWakeUps } from './wake-ups.ts'

it('three thousand messages while runs are parked: none is stranded', { timeout: 60_000 }, async () => {
  // Whether a message meets a park is a matter of chance: once more, until some have.
  let races = 0
  for (let round = 0; round < 5 && races === 0; round++) {
    const report = await proveWakeUps(3000, 'nothing')
    console.log('wake-ups:', JSON.stringify(report))
    expect(report).toMatchObject({ messages: 3000, stranded: 0, unread: 0 })
    races += report.races
  }
  expect(races).toBeGreaterThan(0)
})
