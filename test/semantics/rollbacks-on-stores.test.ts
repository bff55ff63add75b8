import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeRollbackTable } from '../support/rollback-table.ts'

describe('a rollback, in memory', () => {
  describeRollbackTable(async () => ({ store: memory(), remove: async () => {} }))
})

describe('a rollback, in SQLite', () => {
  describeRollbackTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-rollback-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
