import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeChildrenTable } from '../support/children-table.ts'
import { describeFamilies } from '../support/family-table.ts'

describe('child runs, in memory', () => {
  describeChildrenTable(async () => ({ store: memory(), remove: async () => {} }))
  describeFamilies(async () => ({ store: memory(), remove: async () => {} }))
})

describe('child runs, in SQLite', () => {
  const makePlace = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-children-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  }
  describeChildrenTable(makePlace)
  describeFamilies(makePlace)
})
