import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { killConsents } from '../support/kill/consent/kill-consents.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

test.each(['before', 'sent', 'after'] as const)(
  'a gate and a plan act, and undo, once, whichever write a worker is killed %s',
  async (when) => {
    const { killed, problems } = await killConsents(() => makePostgresPlace(server.url()), when)
    expect(problems).toEqual([])
    expect(killed).toBeGreaterThan(20)
  },
)

test('the checker finds an action that is no step of a gate and happens again', async () => {
  const { problems } = await killConsents(() => makePostgresPlace(server.url()), 'after', {
    step: 3,
    isCareless: true,
  })
  expect(problems.join('\n')).toContain('step pay had several idempotency keys')
})
