import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeRetryTable } from '../support/retry-table.ts'

describe('a retry of a failed run, in memory', () => {
  describeRetryTable(async () => ({ store: memory(), remove: async () => {} }))
})

describe('a retry of a failed run, in SQLite', () => {
  describeRetryTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-retry-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
