import { expect, test } from 'vitest'
import { expectSameFindings } from './leaving-out.ts'

test('explore finds the same ends and violations in random programs whether it leaves outcomes out or not', async () => {
  const { leftOut } = await expectSameFindings(60)
  expect(leftOut).toBeGreaterThan(0)
})
