import { copyFileSync, existsSync } from 'node:fs'
import { type AskQuery, everyone, identifyOwnProcess } from '@pawl/core/storage'
import { sql } from 'kysely'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connect } from '../../../../test/support/sqlite.ts'
import type { Database } from '../../src/connection/database.ts'
import { migrate, migrations } from '../../src/schema/migrate.ts'
import type { Migration } from '../../src/schema/migration.ts'
import { startProgram } from '../support/programs.ts'
import { step } from '../support/runs.ts'
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

function allAsks(overrides: Partial<AskQuery>): AskQuery {
  const everything = { run: null, procedure: null, kind: null, overdue: null, lapsed: null, to: null }
  return { status: 'open', ...everything, now: 0, after: null, limit: 100, ...overrides }
}

function open(file: string): Database {
  const database = connect(file)
  onTestFinished(() => void database.close())
  return database
}

function readSchema(database: Database): unknown[] {
  return database.prepare('select type, name, sql from sqlite_schema order by name').all()
}

describe('migrations', () => {
  it('migrations run once, however often they are called', async () => {
    const file = tempFile()
    const database = open(file)
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

  it('migrations update an older file and keep its data', async () => {
    const file = tempFile()
    const store = await openStore(file)
    const worker = await store.workers.register({ name: 'w', leaseMs: 1000 })
    await store.close()
    const database = open(file)
    migrate(database, file, [...migrations, next])
    expect(database.prepare('select version from migrations').pluck().all()).toEqual([
      ...versions,
      latest + 1,
    ])
    expect(database.prepare('select worker from workers').pluck().all()).toEqual([worker])
    expect(database.prepare('select count(*) from schedules').pluck().get()).toBe(0)
  })

  for (const { version } of migrations.slice(0, -1))
    it(`migrations update a file of version ${version}, with its live runs`, async () => {
      const file = tempFile()
      const database = open(file)
      database.pragma('journal_mode = wal')
      migrate(database, file, migrations.slice(0, version))
      // A run that a live worker owns, one of a dead worker, one that waits, one that was quarantined for crashes, and one that is stuck.
      const { pid, startedAt, machine } = identifyOwnProcess()
      const addWorker = database.prepare(
        'insert into workers (name, beat_at, lease_ms, pid, process_started, machine) values (?, ?, ?, ?, ?, ?)',
      )
      addWorker.run('old', Date.now(), 3_600_000, pid, startedAt, machine)
      addWorker.run('dead', 1, 1, pid, startedAt, machine)
      const addRun = database.prepare(
        `insert into runs (worker, epoch, tries, mark, id, head, mail, state, created_at, version, procedure, link)
         values (?, ?, ?, ?, ?, 1, 0, 0, 1, 1, 'refund', x'')`,
      )
      addRun.run(1, 1, 0, 0, 'owned')
      addRun.run(2, 1, 1, 0, 'orphan')
      addRun.run(null, 1, 0, 0, 'waiting')
      addRun.run(null, 9, 7, 2, 'poison')
      addRun.run(null, 2, 0, 1, 'stuck')
      database.exec(`insert into run_info (run, tags, reason) select run, '[]', x'01' from runs;
        insert into events (run, seq, at, epoch, type, position, turn, nth, failed, name)
          select run, 0, 1, 1, 0, -1, 0, 0, 0, 'started' from runs;
        with a (position, status, urgency, due_at, audience, escalate_to) as (values
          (0, 0, 1, null, '["user:amy","group:a"]', '[]'), (1, 0, 2, 9, '["user:bob"]', '["user:amy","user:bob"]'),
          (2, 0, 3, null, '[]', '["user:amy"]'), (3, 1, 3, null, '["user:amy"]', '[]'), (4, 0, 0, null, '["user:a', '['))
        insert into asks (run, opened_at, due_at, position, status, urgency, kind, audience, escalate_to, payload)
          select run, 1, due_at, position, status, urgency, 'approve', audience, escalate_to, x'01'
          from runs, a where id = 'waiting'`)
      database.close()

      const port = await openStore(file)
      expect(await port.askIdKey()).toMatch(/^[0-9a-f]{32}$/)
      // Older versions did not note when a worker was registered.
      expect(await port.workers.list()).toMatchObject([
        { name: 'old', startedAt: null, runs: 1, procedures: null, inputs: null },
      ])
      const fresh = tempFile()
      await openStore(fresh)
      expect(readSchema(open(file))).toEqual(readSchema(open(fresh)))
      const seenBy = async (now: number, ...to: string[]) =>
        (await port.asks.list(allAsks({ now, to }))).map(({ position }) => position)
      // From version 7 on the asks themselves are written with their names.
      if (version < 7) {
        expect(await seenBy(8, 'user:amy')).toEqual([0])
        expect(await seenBy(9, 'user:amy')).toEqual([1, 0])
        expect(await seenBy(8, 'user:bob', everyone)).toEqual([2, 1])
        expect(await seenBy(9, 'group:a', 'user:amy', everyone)).toEqual([1, 2, 0])
      }
      expect(await port.mail.cancel({ run: 'owned', payload: null }, null)).toMatchObject({
        outcome: 'stored',
      })
      expect(await port.runs.find('owned')).toMatchObject({ cancelAt: expect.any(Number), parent: null })
      expect(await port.runs.find('owned')).toMatchObject({ owned: true, tries: 0, cause: null })
      expect(await port.runs.find('poison')).toMatchObject({ mark: 'quarantined', cause: null, tries: 7 })
      expect(await port.workers.abilities()).toBe(null)
      expect(await port.workers.sweep()).toBe(1)
      expect(await port.workers.beat(1)).toBe(true)
      const procedures = [{ name: 'refund', versions: [1] }]
      const worker = await port.workers.register({ name: 'new', leaseMs: 60_000, procedures })
      const claimant = { worker, procedures }
      expect((await port.claims.claim(claimant, 9)).runs).toMatchObject([
        { id: 'orphan', tries: 2, epoch: 3 },
      ])
      const { run = 0 } = (await port.runs.find('poison')) ?? {}
      expect(await port.runs.retry(run, 'quarantined')).toBe(true)
      expect(await port.claims.retryStuck(claimant)).toBe(1)
      await port.mail.send(
        [{ run: 'waiting', kind: 'signal', name: 'paid', key: null, by: null, payload: null }],
        null,
      )
      const { runs } = await port.claims.claim(claimant, 9)
      expect(runs.map(({ id }) => id).sort()).toEqual(['poison', 'stuck', 'waiting'])
      const units = runs.map((claimed) => step({ ...claimed, worker }))
      for (const outcome of await port.log.commit(worker, units))
        expect(outcome).toMatchObject({ outcome: 'ok' })
      expect(await port.runs.find('poison')).toMatchObject({ mark: 'none', tries: 0, head: 2 })
    })

  it('migrations refuse a newer file, and name both versions', async () => {
    const file = tempFile()
    await (await openStore(file)).close()
    const database = open(file)
    migrate(database, file, [...migrations, next])
    const error = await openStore(file).catch((reason: unknown) => reason)
    expect(String(error)).toContain(
      `has schema version ${latest + 1}; this @pawl/storage-sqlite supports versions up to ${latest}`,
    )
    expect(String(error)).toContain('Update @pawl/storage-sqlite')
  })

  it('a migration killed between any two statements writes all of a step or nothing', async () => {
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
      const database = open(left)
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

  it('migrations run in ten processes at once', async () => {
    const file = tempFile()
    const programs = await Promise.all(Array.from({ length: 10 }, () => startProgram('register', [file])))
    const keys = await Promise.all(programs.map((program) => program.line()))
    for (const program of programs) expect(await program.end()).toBe(0)
    expect(new Set(keys).size).toBe(10)
    const database = open(file)
    expect(database.prepare('select version from migrations').pluck().all()).toEqual(versions)
    expect(database.prepare('select count(*) from workers').pluck().get()).toBe(10)
  })
})

/** The schema a fresh connection sees; the migration stops, as if killed, before its statement number `stopAt`. */
function readSchemaAfter(file: string, migrations: readonly Migration[], stopAt: number): unknown[] {
  const database = open(file)
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
