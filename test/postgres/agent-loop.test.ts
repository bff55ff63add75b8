import { postgres } from '@pawl/storage-postgres'
import { onTestFinished, test } from 'vitest'
import { killInLoop } from '../support/agent-loop.ts'
import { seeded } from '../support/kill/seeded.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { seed } from '../support/seed.ts'

test(`a tool loop whose worker is killed 5 times on PostgreSQL repeats nothing recorded (SEED=${seed})`, async () => {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  const store = postgres(database.url)
  await killInLoop({ kills: 5, random: seeded(seed), place: database.url, store })
})
