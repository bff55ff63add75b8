import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { killFamilies } from './support/family.ts'
import { sqliteStore } from './support/sqlite.ts'

test('parents and children in different processes that are killed lose and repeat no child, in SQLite', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-family-'))
  const place = join(folder, 'pawl.db')
  await killFamilies({ store: sqliteStore(place), place, parents: 20, kills: 8 })
  await rm(folder, { recursive: true, force: true })
}, 120_000)
