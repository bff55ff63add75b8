import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { describe } from 'vitest'
import { describeDeleteRaces } from '../support/delete-race-table.ts'
import { makePlaces } from '../support/postgres-database.ts'

const rounds = Number(process.env['ROUNDS'] ?? 500)

describe('calls beside the deletion of their run, in PostgreSQL', () => {
  describeDeleteRaces(makePlaces(), rounds)
})

describe('calls beside the deletion of their run, in SQLite', () => {
  describeDeleteRaces(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-delete-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  }, rounds)
})
