import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient, createEngine, procedure } from '@pawl/core'
import { type AskQuery, everyone } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { PostgresServer } from '../../../scripts/postgres/server.ts'
import { bundle } from '../../../test/support/bundle.ts'
import { MutantPool } from '../../../test/support/mutant-pool.ts'
import {
  changeUrl,
  grants,
  makeDatabase,
  runOn,
  type TestDatabase,
} from '../../../test/support/postgres-database.ts'
import type { Client } from '../src/connection/clients.ts'
import { classify, explain, type Fault } from '../src/faults.ts'
import { nameTables } from '../src/names.ts'
import { migrateOn, migrations } from '../src/schema/migrate.ts'
import { newRun, newUnit, open, order } from './support/units.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.remove())

test('a client that was first used before its database existed works once it does', async () => {
  const url = changeUrl(database.ownerUrl, { database: 'pawl_later' })
  const client = createClient({ store: postgres(url) })
  // Refused at once; for a server that is away it would be the same after a while.
  await expect(client.list()).rejects.toMatchObject({ code: 'store-unusable' })
  await runOn(database.ownerUrl, 'create database pawl_later')
  try {
    expect((await client.list()).items).toEqual([])
  } finally {
    await client.stop()
    await runOn(database.ownerUrl, 'drop database pawl_later with (force)')
  }
})

describe('start-up checks', () => {
  const settings: readonly (readonly [setting: string, value: string, expected: string, remedy: string])[] = [
    ['synchronous_commit', 'off', 'synchronous_commit is off', 'synchronous_commit = on'],
    ['default_transaction_isolation', "'repeatable read'", 'repeatable read', "= 'read committed'"],
    ['default_transaction_isolation', 'serializable', 'serializable', "= 'read committed'"],
    ['default_transaction_read_only', 'on', 'read-only', 'default_transaction_read_only = off'],
  ]
  for (const [setting, value, expected, remedy] of settings) {
    test(`${setting} = ${value} is refused, with the remedy`, async () => {
      const name = new URL(database.url).pathname.slice(1)
      await database.owner.query(`alter database ${name} set ${setting} = ${value}`)
      try {
        await expect(open(postgres(database.url))).rejects.toMatchObject({
          code: 'store-unusable',
          message: expect.stringContaining(expected),
          details: { remedy: expect.stringContaining(remedy) },
        })
      } finally {
        const url = changeUrl(database.ownerUrl, { database: 'postgres' })
        await runOn(url, `alter database ${name} reset ${setting}`)
      }
    })
  }

  describe('timeouts', () => {
    const name = () => new URL(database.url).pathname.slice(1)
    const elsewhere = () => changeUrl(database.ownerUrl, { database: 'postgres' })
    const knows = async (setting: string) =>
      (await database.owner.query('select from pg_settings where name = $1', [setting])).rowCount === 1

    /** Sets it for new connections to the database. */
    async function during(setting: string, value: string, call: () => Promise<void>): Promise<void> {
      await runOn(elsewhere(), `alter database ${name()} set ${setting} = '${value}'`)
      try {
        await call()
      } finally {
        await runOn(elsewhere(), `alter database ${name()} reset ${setting}`)
      }
    }

    for (const setting of [
      'statement_timeout',
      'transaction_timeout',
      'idle_in_transaction_session_timeout',
    ]) {
      for (const schema of ['pawl', 'new_timeouts']) {
        test(`${setting} is refused if too small, with the remedy, for the schema ${schema}`, async (context) => {
          if (!(await knows(setting))) context.skip()
          for (const value of ['1ms', '20ms', '999ms']) {
            await during(setting, value, async () => {
              await expect(open(postgres(database.ownerUrl, { schema }))).rejects.toMatchObject({
                code: 'store-unusable',
                message: expect.stringContaining(setting),
                details: { remedy: expect.stringContaining(`alter role … set ${setting} = '30s'`) },
              })
            })
          }
        })

        test(`${setting} of one second is accepted, for the schema ${schema}`, async (context) => {
          if (!(await knows(setting))) context.skip()
          for (const value of ['1s', '1min', '1d', '2147483647ms']) {
            await during(setting, value, async () => {
              const port = await open(postgres(database.ownerUrl, { schema }))
              await port.close()
            })
            if (schema !== 'pawl') await database.owner.query(`drop schema ${schema} cascade`)
          }
        })
      }
    }

    const sleep = 'select pg_sleep(10)'
    const endings: readonly (readonly [setting: string, text: string, fault: Fault])[] = [
      ['statement_timeout', sleep, 'later'],
      ['transaction_timeout', sleep, 'unknown'],
      ['idle_in_transaction_session_timeout', 'begin', 'unknown'],
    ]
    for (const [setting, text, fault] of endings) {
      test(`${setting} that is set later is named by the call that it cancels`, async (context) => {
        if (!(await knows(setting))) context.skip()
        const client = new pg.Client({ connectionString: database.ownerUrl })
        const lost = new Promise((resolve) => client.on('error', resolve))
        await client.connect()
        await client.query(`set ${setting} = '5ms'`)
        const error = await client.query(text).then(
          () => lost,
          (error: unknown) => error,
        )
        const explained = explain(error, false)
        expect(explained).toMatchObject({
          code: 'store-unusable',
          message: expect.stringContaining((error as Error).message),
          details: { remedy: expect.stringContaining(`alter role … set ${setting} = '30s'`) },
        })
        expect(String(explained)).toContain(
          fault === 'unknown' ? 'outcome of this call is unknown' : 'Nothing of this call',
        )
        expect([classify(error), classify(explained)]).toEqual([fault, fault])
        await client.end().catch(() => {})
      })
    }
  })

  // What cannot be set for one database: the server is asked something else.
  const answers: readonly (readonly [
    what: string,
    asked: string,
    answer: string,
    expected: string,
    remedy: string,
  ])[] = [
    [
      'a server older than PostgreSQL 15',
      "current_setting('server_version_num')::int",
      '140019',
      'This is PostgreSQL 14.',
      'to version 15 or newer',
    ],
    ['fsync = off', "current_setting('fsync')", "'off'", 'fsync is off', 'Set fsync = on'],
  ]
  for (const [what, asked, answer, expected, remedy] of answers) {
    test(`${what} is refused, with the remedy`, async () => {
      const pool = new MutantPool(database.url, (text) => text.replace(asked, answer))
      await expect(open(postgres({ pool }))).rejects.toMatchObject({
        code: 'store-unusable',
        message: expect.stringContaining(expected),
        details: { remedy: expect.stringContaining(remedy) },
      })
      await pool.end()
    })
  }

  test('PostgreSQL 15, the oldest version supported, executes a run', async () => {
    const server = await PostgresServer.start({ version: 15 })
    try {
      const store = postgres(server.url())
      const greet = procedure({ name: 'greet' }, async (ctx) => {
        const name = await ctx.step('load', () => 'Ada')
        await ctx.sleep('1ms')
        return ctx.human.input(`Hello ${name}?`, z.string())
      })
      const engine = await createEngine({ store, procedures: [greet] })
      const run = await engine.run(greet)
      const ask = await engine.inbox.next({ run: run.id })
      await engine.inbox.answer(ask.id, { value: 'yes' }, { as: 'user:ana' })
      expect(await run.result()).toBe('yes')
      await engine.stop()
      const client = new pg.Client(server.url())
      await client.connect()
      const { rows } = await client.query('show server_version_num')
      expect(rows[0].server_version_num).toMatch(/^15/)
      await client.end()
    } finally {
      await server.remove()
    }
  })

  test('another encoding is refused, with the remedy', async () => {
    const url = changeUrl(database.ownerUrl, { database: 'pawl_latin1' })
    await runOn(
      database.ownerUrl,
      "create database pawl_latin1 encoding 'LATIN1' template template0 lc_collate 'C' lc_ctype 'C'",
    )
    try {
      await expect(open(postgres(url))).rejects.toMatchObject({
        code: 'store-unusable',
        message: expect.stringContaining('LATIN1'),
        details: { remedy: expect.stringContaining('UTF8') },
      })
    } finally {
      await runOn(database.ownerUrl, 'drop database pawl_latin1 with (force)')
    }
  })

  test('a missing database is named', async () => {
    const url = changeUrl(database.ownerUrl, { database: 'pawl_nowhere' })
    await expect(open(postgres(url))).rejects.toMatchObject({
      code: 'store-unusable',
      message: expect.stringContaining('pawl_nowhere'),
    })
  })

  test('a server without free connections is not reported as down', async () => {
    await database.owner.query('create role pawl_crowded login connection limit 0').catch(() => {})
    await expect(open(postgres(changeUrl(database.url, { user: 'pawl_crowded' })))).rejects.toMatchObject({
      code: 'store-unusable',
      message: expect.stringContaining('PostgreSQL has no connection left: too many connections for role'),
      details: {
        remedy: expect.stringContaining('Raise `max_connections` or the limit of the database or role'),
      },
    })
  })

  test('a schema of a newer version is refused, with the remedy', async () => {
    await database.owner.query(`insert into pawl.migrations values (99, 'of the future', 0)`)
    try {
      await expect(open(postgres(database.url))).rejects.toMatchObject({
        code: 'store-unusable',
        message: expect.stringContaining('version 99'),
        details: { remedy: expect.stringContaining('Upgrade @pawl/storage-postgres') },
      })
    } finally {
      await database.owner.query('delete from pawl.migrations where version = 99')
    }
  })

  test('a role that may not create the schema is told who may', async () => {
    await expect(open(postgres(database.url, { schema: 'not_there' }))).rejects.toMatchObject({
      code: 'store-unusable',
      details: { remedy: expect.stringContaining('a role that owns the schema') },
    })
  })

  test('a role without rights on the tables is told the rights to grant', async () => {
    await database.owner.query('create role pawl_stranger login').catch(() => {})
    const url = changeUrl(database.url, { user: 'pawl_stranger' })
    await expect(open(postgres(url))).rejects.toMatchObject({
      code: 'store-unusable',
      details: { remedy: expect.stringContaining('https://pawl.dev/docs/guides/postgres') },
    })
  })

  test('a pool too small for a worker is refused when a worker starts', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 4 })
    const port = await open(postgres({ pool }))
    try {
      await expect(port.workers.register({ name: 'w', leaseMs: 1000 })).rejects.toMatchObject({
        code: 'store-unusable',
        details: { remedy: expect.stringContaining('at least 5') },
      })
    } finally {
      await port.close()
      await pool.end()
    }
  })
})

describe('names', () => {
  test('tables of the same name elsewhere on the search path are ignored', async () => {
    await database.owner.query('create schema trap')
    for (const table of ['runs', 'events', 'run_info', 'workers']) {
      await database.owner.query(`create table trap.${table} (like pawl.${table} including all)`)
    }
    await database.owner.query(
      'grant usage on schema trap to pawl_app; grant all on all tables in schema trap to pawl_app',
    )
    const pool = new pg.Pool({ connectionString: database.url, options: '-c search_path=trap', max: 10 })
    const port = await open(postgres({ pool }))
    await port.runs.create([newRun('a')])
    expect(
      (
        await port.runs.list({
          procedure: null,
          statuses: [],
          tag: null,
          parent: null,
          failedUndo: false,
          before: null,
          limit: 9,
        })
      ).map(({ id }) => id),
    ).toEqual(['a'])
    await port.close()
    await pool.end()
    expect((await database.owner.query('select from trap.runs')).rowCount).toBe(0)
    expect((await database.owner.query('select from pawl.runs')).rowCount).toBe(1)
  })

  test('two schemas in one database share nothing', async () => {
    const [one, two] = await Promise.all(
      ['one', 'Two'].map((schema) => open(postgres(database.ownerUrl, { schema }))),
    )
    if (!one || !two) throw new Error('no stores')
    await one.runs.create([newRun('a')])
    expect(await two.runs.find('a')).toBeNull()
    expect(await one.runs.find('a')).toMatchObject({ id: 'a' })
    await Promise.all([one.close(), two.close()])
  })
})

describe('migrations', () => {
  const names = nameTables('fresh')
  const all = migrations.map(({ version, name }) => ({ version, name }))
  beforeEach(async () => {
    await database.owner.query('drop schema if exists fresh cascade')
  })

  async function migrateUpTo(version: number): Promise<void> {
    const client = await database.owner.connect()
    await migrateOn(client as unknown as Client, names, migrations.slice(0, version))
    client.release()
  }

  test('ten processes that open at once migrate once', async () => {
    const program = await bundle(new URL('programs/forgetful.ts', import.meta.url).pathname)
    const exits = Array.from({ length: 10 }, async () => {
      const child = spawn(process.execPath, [program, database.ownerUrl, 'fresh'], { stdio: 'inherit' })
      onTestFinished(() => void child.kill('SIGKILL'))
      const [code] = await once(child, 'exit')
      return code as number | null
    })
    expect(await Promise.all(exits)).toEqual(Array.from({ length: 10 }, () => 0))
    await rm(join(program, '..'), { recursive: true })
    const { rows } = await database.owner.query('select version, name from fresh.migrations order by version')
    expect(rows).toEqual(all)
  })

  test('ten stores that open at once migrate once', async () => {
    const ports = await Promise.all(
      Array.from({ length: 10 }, () => open(postgres(database.ownerUrl, { schema: 'fresh' }))),
    )
    const { rows } = await database.owner.query('select version, name from fresh.migrations order by version')
    expect(rows).toEqual(all)
    await Promise.all(ports.map((port) => port.runs.create([newRun('a')])))
    expect((await database.owner.query('select from fresh.runs')).rowCount).toBe(1)
    await Promise.all(ports.map((port) => port.close()))
  })

  test('a migration killed at any statement has done nothing, and the next one does all', async () => {
    const wanted = await describeSchema('pawl')
    for (let statement = 1; ; statement++) {
      const client = await database.owner.connect()
      client.on('error', () => {})
      const { processID } = client as unknown as { readonly processID: number }
      const killed = killBefore(client as unknown as Client, statement, async () => {
        await database.owner.query('select pg_terminate_backend($1, 5000)', [processID])
      })
      const error = await migrateOn(killed, names).then(
        () => null,
        (error: unknown) => error,
      )
      client.release(true)
      if (error === null) {
        expect(statement).toBeGreaterThan(20)
        break
      }
      expect(await describeSchema('fresh'), `killed before statement ${statement}`).toEqual([])
    }
    expect(await describeSchema('fresh')).toEqual(wanted)
  })

  for (const { version } of migrations.slice(0, -1))
    test(`a store of version ${version} is migrated, with its live runs`, async () => {
      await migrateUpTo(version)
      // A run that a live worker owns, one of a dead worker, one that waits, one that was quarantined for crashes, and one that is stuck.
      await database.owner.query(`
        insert into fresh.workers (name, lease_ms, beat_at)
          values ('old', 3600000, (extract(epoch from now()) * 1000)::bigint), ('dead', 1, 1);
        insert into fresh.runs (worker, wake_at, created_at, epoch, head, version, tries, mark, id, procedure, link)
          values (1, null, 1, 1, 1, 1, 0, 0, 'owned', 'order', ''), (2, null, 1, 1, 1, 1, 1, 0, 'orphan', 'order', ''),
            (null, null, 1, 1, 1, 1, 0, 0, 'waiting', 'order', ''), (null, null, 1, 9, 1, 1, 7, 2, 'poison', 'order', ''),
            (null, null, 1, 2, 1, 1, 0, 1, 'stuck', 'order', '');
        insert into fresh.run_info (run, procedure, tags, reason) select run, procedure, '{}', '\\x01' from fresh.runs;
        insert into fresh.events (run, at, seq, epoch, position, turn, nth, type, failed, name)
          select run, 1, 0, 1, -1, 0, 0, 0, false, 'started' from fresh.runs;
        insert into fresh.asks (run, opened_at, due_at, position, status, urgency, kind, audience, escalate_to, payload)
          select run, 1, due_at, position, status, urgency, 'approve', audience::text[], escalate_to::text[], '\\x01'
          from fresh.runs, (values
            (0, 0, 1, null, '{user:amy,group:a}', '{}'), (1, 0, 2, 9, '{user:bob}', '{user:amy,user:bob}'),
            (2, 0, 3, null, '{}', '{user:amy}'), (3, 1, 3, null, '{user:amy}', '{}'))
            as a(position, status, urgency, due_at, audience, escalate_to)
          where id = 'waiting'`)
      const port = await open(postgres(database.ownerUrl, { schema: 'fresh' }))
      expect(await describeSchema('fresh')).toEqual(await describeSchema('pawl'))
      expect(await port.askIdKey()).toMatch(/^[0-9a-f-]{36}$/)
      // Older versions did not note when a worker was registered.
      expect(await port.workers.list()).toMatchObject([
        { name: 'old', startedAt: null, runs: 1, procedures: null, inputs: null },
      ])
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
      const worker = await port.workers.register({ name: 'new', leaseMs: 60_000, procedures: [order] })
      const claimant = { worker, procedures: [order] }
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
      const units = runs.map((claimed) => newUnit({ ...claimed, mail: 0 }))
      for (const outcome of await port.log.commit(worker, units))
        expect(outcome).toMatchObject({ outcome: 'ok' })
      expect(await port.runs.find('poison')).toMatchObject({ mark: 'none', tries: 0, head: 2 })
      await port.close()
    })

  test('a migration that waits for a table does not block others meanwhile', async () => {
    await migrateUpTo(1)
    // Another session reads the table, as a backup does.
    const reader = await database.owner.connect()
    await reader.query('begin')
    await reader.query('select from fresh.workers')
    const opening = open(postgres(database.ownerUrl, { schema: 'fresh' }))
    const waits = `select from pg_locks l join pg_class c on c.oid = l.relation
      where relname = 'workers' and not granted`
    await expect
      .poll(async () => (await database.owner.query(waits)).rowCount, { interval: 5 })
      .toBeGreaterThan(0)
    // A heartbeat: behind it in the queue, and not for long.
    await database.owner.query(
      "begin; set local statement_timeout = '5s'; update fresh.workers set beat_at = 1; commit",
    )
    await reader.query('commit')
    reader.release()
    await (await opening).close()
  })

  test('statements of a migration may take longer than others', async () => {
    const client = await database.owner.connect()
    await client.query("set statement_timeout = '1s'")
    const timeouts = `select name, setting from pg_settings where name in ('statement_timeout', 'transaction_timeout')
      order by name`
    const seen: string[] = []
    const watched = interpose(client as unknown as Client, async (text) => {
      const { rows } = await client.query<{ setting: string }>(timeouts)
      if (/advisory|create|insert/.test(text)) seen.push(...rows.map(({ setting }) => setting))
    })
    await migrateOn(watched, names)
    client.release(true)
    expect(seen.length).toBeGreaterThan(20)
    expect(new Set(seen)).toEqual(new Set(['0']))
  })

  test('a role with the least rights opens a migrated schema', async () => {
    const owner = await open(postgres(database.ownerUrl, { schema: 'fresh' }))
    await owner.close()
    await database.owner.query(grants('fresh', 'pawl_app'))
    const port = await open(postgres(database.url, { schema: 'fresh' }))
    expect(await port.runs.create([newRun('a')])).toMatchObject([{ outcome: 'created' }])
    await port.close()
  })
})

function allAsks(overrides: Partial<AskQuery>): AskQuery {
  const everything = { run: null, procedure: null, kind: null, overdue: null, lapsed: null, to: null }
  return { status: 'open', ...everything, now: 0, after: null, limit: 100, ...overrides }
}

/** All columns and indexes of a schema. */
async function describeSchema(schema: string): Promise<readonly unknown[]> {
  const columns = await database.owner.query(
    `select table_name, column_name, data_type, is_nullable, column_default from information_schema.columns
     where table_schema = $1 order by table_name, ordinal_position`,
    [schema],
  )
  const indexes = await database.owner.query(
    `select indexname, replace(indexdef, $1 || '.', '') as definition from pg_indexes where schemaname = $1 order by 1`,
    [schema],
  )
  return [...columns.rows, ...indexes.rows]
}

/** The same client, on which `kill` is called before that statement. */
function killBefore(client: Client, statement: number, kill: () => Promise<void>): Client {
  let count = 0
  return interpose(client, async () => {
    count++
    if (count === statement) await kill()
  })
}

/** The same client, on which `act` is called before each statement. */
function interpose(client: Client, act: (text: string) => Promise<void>): Client {
  return {
    ...client,
    on: client.on.bind(client),
    off: client.off.bind(client),
    release: client.release.bind(client),
    async query(config) {
      await act((config as { readonly text: string }).text)
      return client.query(config)
    },
  }
}
