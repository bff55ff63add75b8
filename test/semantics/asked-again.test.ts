import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeAskedAgainTable } from '../support/asked-again-table.ts'

describe('a question that is asked again, in memory', () => {
  describeAskedAgainTable(async () => ({ store: memory(), remove: async () => {} }))
})

describe('a question that is asked again, in SQLite', () => {
  describeAskedAgainTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-asked-again-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
