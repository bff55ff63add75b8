import { postgres } from '@pawl/storage-postgres'
import { onTestFinished, test } from 'vitest'
import { killInLoop } from '../../packages/ai-sdk/test/support/kills.ts'
import { seeded } from '../support/kill/seeded.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { seed } from '../support/seed.ts'

test(`a tool loop whose worker is killed 100 times on PostgreSQL repeats nothing recorded (SEED=${seed})`, async () => {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  const store = postgres(database.url)
  await killInLoop({ kills: 100, random: seeded(seed), place: database.url, store })
})
