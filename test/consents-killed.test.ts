import { expect, test } from 'vitest'
import { killConsents } from './support/kill/consent/kill-consents.ts'
import { makeSqlitePlace } from './support/kill/sqlite-place.ts'

test('a worker killed after one of its transactions leaves a gate and a plan that act, and undo, once', async () => {
  const { killed, problems } = await killConsents(makeSqlitePlace, 'after', { step: 11 })
  expect(problems).toEqual([])
  expect(killed).toBeGreaterThan(1)
})
