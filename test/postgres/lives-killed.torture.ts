import { afterAll, beforeAll, expect, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { killLives } from '../support/kill/life/kill-lives.ts'
import { makePostgresPlace } from '../support/kill/postgres-place.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await PostgresServer.start()
})
afterAll(() => server.remove())

test.each(['before', 'sent', 'after'] as const)(
  'generations, retries, forks, deletions and imports lose and repeat nothing, whichever write a worker is killed %s',
  async (when) => {
    const { killed, problems } = await killLives({ makePlace: () => makePostgresPlace(server.url()), when })
    expect(problems).toEqual([])
    expect(killed).toBeGreaterThan(30)
  },
)
