import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'vitest'
import { temporaryFolder } from './support/bundle.ts'
import { followThroughKills } from './support/http/follow-through-kills.ts'
import { seed } from './support/seed.ts'

test(`a reader sees each number once and in order over 5 kills of the server, on SQLite, seed ${seed}`, async () => {
  const folder = await temporaryFolder()
  await followThroughKills(join(folder, 'pawl.db'), 5, seed)
  await rm(folder, { recursive: true })
})
