import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, test } from 'vitest'
import { killInLoop } from './support/agent-loop.ts'
import { seeded } from './support/kill/seeded.ts'
import { seed } from './support/seed.ts'
import { sqliteStore } from './support/sqlite.ts'

test(`a tool loop whose worker is killed 100 times on SQLite repeats nothing recorded (SEED=${seed})`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-desk-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const place = join(folder, 'desk.db')
  await killInLoop({ kills: 100, random: seeded(seed), place, store: sqliteStore(place) })
})
