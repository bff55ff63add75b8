import { expect, test } from 'vitest'
import { closeLate, rejectAtOnce } from './support/controls.ts'
import { forAllHops, forAllPrefixes } from './support/laws.ts'

test('replays 300 programs of nested scopes at once and after a crash behind every event', async () => {
  const { programs, ended, cancelled, races, lost } = await forAllPrefixes(300)
  // That they are no trivial ones.
  expect(programs).toBe(300)
  expect(ended).toBeGreaterThan(150)
  expect(cancelled).toBeGreaterThan(50)
  expect(races).toBeGreaterThan(50)
  expect(lost).toBeGreaterThan(15)
})

test('300 programs of nested scopes: hops behind settlements change nothing', () => forAllHops(300))

test('control: losers closed after the delivery are not closed in a replay', async () => {
  await expect(forAllPrefixes(2_000, closeLate)).rejects.toThrow('Property failed')
})

test('control: losers rejected all at once depend on hops', async () => {
  await expect(forAllHops(5_000, rejectAtOnce)).rejects.toThrow('Property failed')
})
