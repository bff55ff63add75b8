import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeContinueCancelTable } from '../support/continue-cancel-table.ts'

describe('cancels around continueAs, in memory', () => {
  describeContinueCancelTable(async () => ({ store: memory(), remove: async () => {} }))
})

describe('cancels around continueAs, in SQLite', () => {
  describeContinueCancelTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-continue-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
