import { expect, test } from 'vitest'
import { killHookServerAtEveryWrite } from '../support/kill/hooks.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'

test('on PostgreSQL, a server killed while any of its writes is under way delivers each event at least once', async () => {
  // Registration, claims, steps, and the start and end of each delivery.
  expect(await killHookServerAtEveryWrite(() => makePostgresPlace(), 'sent')).toBeGreaterThan(8)
})
