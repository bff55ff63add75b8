import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { test } from 'vitest'
import { expectOneWinner } from './support/http/races.ts'

test('of two answers at once over HTTP one gets 200 and the other 409 with the winner, on SQLite, 1,000 times', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-races-'))
  const file = join(folder, 'pawl.db')
  await expectOneWinner([sqlite(file), sqlite(file)], 1000)
  rmSync(folder, { recursive: true })
})
