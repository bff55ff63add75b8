import { expect, test } from 'vitest'
import { expectSameFindings } from './leaving-out.ts'

test('explore finds the same ends and violations in 2,000 random programs whether it leaves outcomes out or not', async () => {
  const { leftOut } = await expectSameFindings(2_000)
  expect(leftOut).toBeGreaterThan(1_000)
})
