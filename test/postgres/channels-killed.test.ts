import { expect, test } from 'vitest'
import { killChannelAtEveryWrite } from '../support/kill/channels.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'

test('on PostgreSQL, a worker killed while one of its writes is under way delivers and updates each ask at least once', async () => {
  expect(await killChannelAtEveryWrite(() => makePostgresPlace(), 'sent', 12)).toBeGreaterThan(1)
})
