import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeForkTable } from '../support/fork-table.ts'

describe('a fork asked for again, in memory', () => {
  describeForkTable(async () => ({ store: memory(), remove: async () => {} }))
})

describe('a fork asked for again, in SQLite', () => {
  describeForkTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-forks-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
