import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeImportedFamilies } from '../support/imported-family-table.ts'

describe('imported families, in memory', () => {
  describeImportedFamilies(async () => ({ store: memory(), remove: async () => {} }))
})

describe('imported families, in SQLite', () => {
  describeImportedFamilies(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-import-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
