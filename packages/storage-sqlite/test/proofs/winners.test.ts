import { expect, it } from 'vitest'
import { proveOneWinner } from './winners.ts'

it('of a thousand answers from four processes one wins, and the others are told who', async () => {
  expect(await proveOneWinner(2, 'nothing')).toEqual({ asks: 2, answers: 2000, winners: 2, misreported: 0 })
})
