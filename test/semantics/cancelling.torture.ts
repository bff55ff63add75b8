import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeCancelTable } from '../support/cancel-table.ts'

const rounds = 1_000

describe('a cancel, in memory', () => {
  describeCancelTable(async () => ({ store: memory(), remove: async () => {} }), rounds)
})

describe('a cancel, in SQLite', () => {
  describeCancelTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-cancel-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  }, rounds)
})
