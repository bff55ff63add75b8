import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeRaceTable } from '../support/race-table.ts'

describe('a race, in memory', () => {
  describeRaceTable(async () => ({ store: memory(), remove: async () => {} }))
})

describe('a race, in SQLite', () => {
  describeRaceTable(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-race-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
