import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeTalk } from '../support/talk-table.ts'

describe('talk with a run, in memory', () => {
  describeTalk(async () => ({ store: memory(), remove: async () => {} }))
})

describe('talk with a run, in SQLite', () => {
  describeTalk(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'pawl-talk-'))
    const remove = () => rm(folder, { recursive: true, force: true })
    return { store: sqlite(join(folder, 'pawl.db')), remove }
  })
})
