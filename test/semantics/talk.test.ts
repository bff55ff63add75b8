import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sqlite } from '@pawl/storage-sqlite'
import { memory } from '@pawl/testing'
import { describe } from 'vitest'
import { describeHeldMail } from '../support/hold-table.ts'
import { describeTalk } from '../support/talk-table.ts'

const inMemory = async () => ({ store: memory(), remove: async () => {} })
const inSqlite = async () => {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-talk-'))
  return {
    store: sqlite(join(folder, 'pawl.db')),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

describe('talk with a run, in memory', () => describeTalk(inMemory))
describe('talk with a run, in SQLite', () => describeTalk(inSqlite))
describe('a run that holds clients back, in memory', () => describeHeldMail(inMemory))
describe('a run that holds clients back, in SQLite', () => describeHeldMail(inSqlite))
