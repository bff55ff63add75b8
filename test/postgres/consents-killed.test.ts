import { expect, test } from 'vitest'
import { killConsents } from '../support/kill/consent/kill-consents.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'

test('on PostgreSQL, a worker killed while one of its writes is under way leaves a gate and a plan that act, and undo, once', async () => {
  const { killed, problems } = await killConsents(() => makePostgresPlace(), 'sent', { step: 12 })
  expect(problems).toEqual([])
  expect(killed).toBeGreaterThan(1)
})
