import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { messageKindCode } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { connect } from '../../../../test/support/sqlite.ts'
import type { Database } from '../../src/connection/database.ts'
import { migrate, migrations } from '../../src/schema/migrate.ts'
import { tempFile } from '../support/stores.ts'
import { makeDirectory, removeDirectory } from '../support/subject.ts'

// The golden files have live runs at every stage: with open asks, in the middle of a cancel, and in the middle of a rollback.
// test/golden finishes these runs after the migration; here the migration is killed.

const logs = new URL('../../../../test/golden/logs/', import.meta.url).pathname
const latest = migrations.at(-1)?.version ?? 0
const older = readdirSync(logs).filter(
  (name) => name.endsWith('.db') && readVersion(join(logs, name)) < latest,
)

/** Reads a copy, because a connection creates files beside a database. */
function readVersion(golden: string): number {
  const directory = makeDirectory()
  const file = join(directory, 'copy.db')
  copyFileSync(golden, file)
  const database = connect(file)
  const version = database.prepare<[], number>('select max(version) from migrations').pluck().get()
  database.close()
  removeDirectory(directory)
  return version ?? 0
}

function open(file: string): Database {
  const database = connect(file)
  onTestFinished(() => void database.close())
  database.pragma('journal_mode = wal')
  return database
}

/** The schema, and all rows of all tables but those with random values. */
function dump(database: Database): Record<string, unknown> {
  const schema = database.prepare('select type, name, sql from sqlite_schema order by name').all()
  const tables = (schema as { type: string; name: string }[]).filter(
    ({ type, name }) =>
      type === 'table' && !name.startsWith('sqlite_') && !['migrations', 'store_info'].includes(name),
  )
  const rows = tables.map(({ name }) => [
    name,
    database.prepare(`select * from "${name}" order by 1, 2`).all(),
  ])
  return { schema, ...Object.fromEntries(rows) }
}

/** Migrates a copy, and stops before that statement as if the process were killed. Returns what is in the files then. */
function killBefore(source: string, statement: number): { readonly left: string; readonly isOver: boolean } {
  const file = tempFile()
  copyFileSync(source, file)
  const database = open(file)
  const exec = database.exec.bind(database)
  let count = 0
  let isOver = true
  database.exec = (text: string) => {
    if (count++ < statement) return exec(text)
    isOver = false
    // Nothing more happens here, not even the rollback.
    database.exec = () => database
    throw new Error('killed')
  }
  try {
    migrate(database, file)
  } catch (error) {
    if (String(error) !== 'Error: killed') throw error
  }
  const left = tempFile()
  for (const end of ['', '-wal', '-shm']) if (existsSync(file + end)) copyFileSync(file + end, left + end)
  return { left, isOver }
}

test('there are files of earlier schemas, one of them with cancelled runs', () => {
  expect(older).toContain('0.1.0.db')
  expect(older).toContain('0.1.0-ends-schema-9.db')
})

test('one of them has live families, and updates and ends of children that no log has yet', () => {
  const file = tempFile()
  copyFileSync(join(logs, '0.1.0-together.db'), file)
  const database = open(file)
  const count = (sql: string): number => database.prepare<[], number>(sql).pluck().get() ?? 0
  expect(older).toContain('0.1.0-together.db')
  const live = `select count(*) from run_info join runs child using (run) join runs parent on parent.id = run_info.parent
    where child.state = 0 and parent.state = 0`
  expect(count(live)).toBeGreaterThan(10)
  for (const kind of ['update', 'ended', 'watch'] as const) {
    const unread = `select count(*) from messages where used = 0 and kind = ${messageKindCode.numberOf[kind]}`
    expect(count(unread), kind).toBeGreaterThan(0)
  }
})

describe.each(older)('the live runs of %s', (name) => {
  test('are as they were, or migrated, when the migration is killed before any of its statements', () => {
    const source = join(logs, name)
    const untouched = tempFile()
    copyFileSync(source, untouched)
    const before = dump(open(untouched))
    const whole = tempFile()
    copyFileSync(source, whole)
    const database = open(whole)
    migrate(database, whole)
    const after = dump(database)
    let kills = 0
    for (; ; kills++) {
      const { left, isOver } = killBefore(source, kills)
      const remains = open(left)
      if (isOver) {
        expect(dump(remains)).toEqual(after)
        break
      }
      expect([before, after], `killed before statement ${kills}`).toContainEqual(dump(remains))
      migrate(remains, left)
      expect(dump(remains), `killed before statement ${kills}`).toEqual(after)
    }
    // The begin, the commit, and at least one statement.
    expect(kills).toBeGreaterThan(2)
  })
})
