import { expect, test } from 'vitest'
import { checkSpans } from './random-programs.ts'

test('no attempt, ask or end of 60 random programs with crashes has two spans', async () => {
  const { repeatedBodies } = await checkSpans(60)
  // Crashes have repeated bodies: with a span for each execution, the test would have failed.
  expect(repeatedBodies).toBeGreaterThan(0)
})
