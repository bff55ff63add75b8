import { expect, test } from 'vitest'
import { Branches } from '../../../src/worker/run/branches.ts'
import { checkChanges } from '../support/changed-programs.ts'

const seed = Number(process.env['SEED'] ?? 3)

test('programs changed in the middle of their lives replay from every event', async () => {
  const tally = await checkChanges(120, seed)
  expect(tally.marked).toBeGreaterThan(30)
  expect(tally.born).toBeGreaterThan(3)
})

test.for([
  ['no choice is the last branch', { without: 'fresh' }],
  ['operations begin before a choice is recorded', { without: 'withholding' }],
  ['a run at the end of its log counts as new', { endIsNew: true }],
  ['marks take positions', { marksWithPositions: true }],
] as const)('the laws of changes break if %s', async ([, control]) => {
  await expect(checkChanges(1_500, seed, control)).rejects.toThrow(/Property failed/)
})

test('a run that was past a change without a mark stays on its first branch', () => {
  const branches = new Branches()
  expect(branches.choose('vat', [1, 2], false)).toBe(1)
  expect(branches.choose('vat', [1, 2], true)).toBe(1)
  expect(branches.areUnwritten).toBe(false)
  expect(branches.draft()).toEqual([])
  expect(branches.list()).toEqual({ vat: { on: 1, offered: [1, 2] } })
})

test('a run that gets to a change first takes the last branch and records it once', () => {
  const branches = new Branches()
  expect(branches.choose('vat', [1, 2, 5], true)).toBe(5)
  expect(branches.areUnwritten).toBe(true)
  expect(branches.draft()).toMatchObject([{ type: 'marked', name: 'vat', position: -1, kind: null }])
  branches.confirm()
  expect(branches.areUnwritten).toBe(false)
  expect(branches.draft()).toEqual([])
  expect(branches.choose('vat', [1, 2, 5, 6], false)).toBe(5)
})
