import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeDeleteRaces } from '../support/delete-race-table.ts'

const rounds = 40

describe('calls beside the deletion of their run, in memory', () => {
  describeDeleteRaces(async () => ({ store: memory(), remove: async () => {} }), rounds)
})

describe('calls beside the deletion of their run, in SQLite', () => {
  describeDeleteRaces(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-delete-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  }, rounds)
})
