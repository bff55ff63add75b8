import { expect, test } from 'vitest'
import { checkSpans } from './random-programs.ts'

test('no attempt, ask or end of 1,000 random programs with crashes has two spans', async () => {
  expect((await checkSpans(1_000)).repeatedBodies).toBeGreaterThan(10)
})
