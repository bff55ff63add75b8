import { postgres } from '@pawl/storage-postgres'
import { onTestFinished, test } from 'vitest'
import { PostgresServer } from '../../scripts/postgres/server.ts'
import { killInLoop } from '../support/agent-loop.ts'
import { seeded } from '../support/kill/seeded.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { seed } from '../support/seed.ts'

test(`a tool loop whose worker is killed 100 times on PostgreSQL repeats nothing recorded (SEED=${seed})`, async () => {
  const server = await PostgresServer.start()
  onTestFinished(() => server.remove())
  const database = await makeDatabase({ server: server.url() })
  onTestFinished(() => database.remove())
  const store = postgres(database.url)
  await killInLoop({ kills: 100, random: seeded(seed), place: database.url, store })
})
