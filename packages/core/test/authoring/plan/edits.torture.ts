import fc from 'fast-check'
import { expect, test } from 'vitest'
import { attacks, play } from './support/proposals.ts'

test('no proposals take a check or its followers from people', () => {
  fc.assert(
    fc.property(attacks, (attack) => {
      expect(play(attack).lost).toEqual([])
    }),
    { numRuns: Number(process.env['PROPOSALS'] ?? 10_000) },
  )
})
