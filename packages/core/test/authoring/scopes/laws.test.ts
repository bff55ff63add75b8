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

test('replays 300 programs of nested scopes unchanged with hops behind settlements', () => forAllHops(300))

test('detects, as a control, losers that are closed after the delivery', async () => {
  await expect(forAllPrefixes(2_000, closeLate)).rejects.toThrow('Property failed')
})

test('detects, as a control, losers that are rejected all at once', async () => {
  await expect(forAllHops(5_000, rejectAtOnce)).rejects.toThrow('Property failed')
})
