import { copyFileSync, existsSync } from 'node:fs'
import SqliteDatabase, { type Database } from 'better-sqlite3'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { migrate, migrations } from '../../src/schema/migrate.ts'
import type { Migration } from '../../src/schema/migration.ts'
import { startProgram } from '../support/programs.ts'
import { openStore, tempFile } from '../support/stores.ts'

const versions = migrations.map(({ version }) => version)
const latest = migrations.at(-1)?.version ?? 0
const next: Migration = {
  version: latest + 1,
  name: 'next',
  statements: (schema) => [
    schema.alterTable('runs').addColumn('priority', 'integer', (column) => column.notNull().defaultTo(0)),
    schema.createTable('schedules').addColumn('name', 'text').modifyEnd(sql`strict`),
    schema.createIndex('schedules_name').on('schedules').column('name'),
  ],
}

function connect(file: string): Database {
  const database = new SqliteDatabase(file)
  onTestFinished(() => void database.close())
  return database
}

function readSchema(database: Database): unknown[] {
  return database.prepare('select type, name, sql from sqlite_schema order by name').all()
}

describe('migrations', () => {
  it('run once, however often they are run', async () => {
    const file = tempFile()
    const database = connect(file)
    migrate(database, file)
    const schema = readSchema(database)
    const id = database.prepare("select value from store_info where name = 'id'").get()
    migrate(database, file)
    await openStore(file)
    expect(readSchema(database)).toEqual(schema)
    expect(database.prepare("select value from store_info where name = 'id'").get()).toEqual(id)
    expect(database.prepare('select version, name from migrations').all()).toEqual(
      migrations.map(({ version, name }) => ({ version, name })),
    )
  })

  it('bring an older file forward and keep what is in it', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const worker = await store.register({ name: 'w', leaseMs: 1000 })
    await store.close()
    const database = connect(file)
    migrate(database, file, [...migrations, next])
    expect(database.prepare('select version from migrations').pluck().all()).toEqual([
      ...versions,
      latest + 1,
    ])
    expect(database.prepare('select worker from workers').pluck().all()).toEqual([worker])
    expect(database.prepare('select count(*) from schedules').pluck().get()).toBe(0)
  })

  it('refuse a file that is newer than they are, and name both versions', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    const database = connect(file)
    migrate(database, file, [...migrations, next])
    const error = await openStore(file).catch((reason: unknown) => reason)
    expect(String(error)).toContain(
      `has schema version ${latest + 1}, and this @pawl/storage-sqlite knows versions up to ${latest}`,
    )
    expect(String(error)).toContain('Update @pawl/storage-sqlite')
  })

  it('write all of a step or nothing, when they are killed between any two statements', async () => {
    const all = [...migrations, next]
    const file = tempFile()
    const whole = readSchemaAfter(file, all, Number.POSITIVE_INFINITY)
    let statements = 0
    for (; existsSync(file); statements++) {
      // What a kill leaves behind is what is in the files at that moment.
      const killed = `${tempFile()}`
      readSchemaAfter(killed, all, statements)
      const left = tempFile()
      for (const end of ['', '-wal', '-shm'])
        if (existsSync(killed + end)) copyFileSync(killed + end, left + end)
      const database = connect(left)
      const schema = readSchema(database)
      if (schema.length > 0) {
        expect(schema).toEqual(whole)
        break
      }
      migrate(database, left, all)
      expect(readSchema(database)).toEqual(whole)
    }
    expect(statements).toBeGreaterThan(20)
  })

  it('run in ten processes at once', async () => {
    const file = tempFile()
    const programs = await Promise.all(Array.from({ length: 10 }, () => startProgram('register', [file])))
    const keys = await Promise.all(programs.map((program) => program.line()))
    for (const program of programs) expect(await program.end()).toBe(0)
    expect(new Set(keys).size).toBe(10)
    const database = connect(file)
    expect(database.prepare('select version from migrations').pluck().all()).toEqual(versions)
    expect(database.prepare('select count(*) from workers').pluck().get()).toBe(10)
  })
})

/** The schema a fresh connection sees; the migration stops, as if killed, before its statement number `stopAt`. */
function readSchemaAfter(file: string, migrations: readonly Migration[], stopAt: number): unknown[] {
  const database = connect(file)
  database.pragma('journal_mode = wal')
  const exec = database.exec.bind(database)
  let count = 0
  database.exec = (statement: string) => {
    if (count++ === stopAt) {
      // Nothing more happens here, not even the roll-back.
      database.exec = () => database
      throw new Error('killed')
    }
    return exec(statement)
  }
  try {
    migrate(database, file, migrations)
  } catch (error) {
    if (String(error) !== 'Error: killed') throw error
  }
  return readSchema(database)
}
