import { expect, test } from 'vitest'
import { PlanGeneration } from '../src/connection/fast-path/plan-generation.ts'

test('statements are planned again each time the number of runs has quadrupled', () => {
  const age = new PlanGeneration()
  const generations = [3, 4, 15, 16, 63, 64, 100_000, 100_001, 400_000].map((run) => {
    age.noteRun(run)
    return age.generation
  })
  expect(generations).toEqual([0, 1, 1, 2, 2, 3, 4, 4, 5])
})

test('rows of one kind do not hide growth of another', () => {
  const age = new PlanGeneration()
  age.noteRun(10)
  age.noteRows(1_000_000)
  const before = age.generation
  age.noteRun(100)
  expect(age.generation).toBe(before + 1)
  age.noteRows(3_000_000)
  expect(age.generation).toBe(before + 2)
})

test('a run seen late changes nothing', () => {
  const age = new PlanGeneration()
  age.noteRun(1_000)
  const before = age.generation
  for (const run of [1, 2, 3, 999]) age.noteRun(run)
  expect(age.generation).toBe(before)
})
