import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeForkEdits } from '../support/fork-edit-table.ts'

describe('edited answers of a fork, in memory', () => {
  describeForkEdits(async () => ({ store: memory(), remove: async () => {} }))
})

describe('edited answers of a fork, in SQLite', () => {
  describeForkEdits(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-fork-edits-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
