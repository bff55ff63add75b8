import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { connectTo, PawlError, type StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { bundle } from '../../../test/support/bundle.ts'
import { changeUrl, empty, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { TcpProxy } from '../../../test/support/tcp-proxy.ts'
import { Clients } from '../src/connection/clients.ts'
import { Database } from '../src/connection/database.ts'
import { NotSent } from '../src/faults.ts'
import { nameTables } from '../src/names.ts'
import { createOwned, newRun, newUnit, open, until } from './support/units.ts'

const everything = {
  procedure: null,
  statuses: [],
  tag: null,
  parent: null,
  failedUndo: false,
  before: null,
  limit: 9,
}

let database: TestDatabase
beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.remove())
afterEach(() => empty(database.owner, 'pawl'))

describe('connections', () => {
  const count = async (): Promise<number> => {
    const { rows } = await database.owner.query(
      `select count(*)::int as count from pg_stat_activity where datname = current_database() and usename = 'pawl_app'`,
    )
    return rows[0].count
  }

  test('connections are opened in advance for a worker, which needs several, and not for a client', async () => {
    await until(async () => (await count()) === 0)
    const reader = connectTo(postgres(database.url)) as StorePort
    await reader.open()
    expect(await count()).toBe(1)
    await reader.close()
    await until(async () => (await count()) === 0)
    const worker = connectTo(postgres(database.url)) as StorePort
    await worker.open(true)
    await until(async () => (await count()) >= 3)
    await worker.close()
  })
})

describe('a connection that breaks while it is opened is replaced', () => {
  /** A server that says it is ready and, in the same breath, that it is going. */
  async function listen(): Promise<string> {
    const part = (type: string, ...bytes: readonly number[]) => [
      type.charCodeAt(0),
      0,
      0,
      0,
      4 + bytes.length,
      ...bytes,
    ]
    const goodbye = Buffer.from('SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0')
    const words = [...part('R', 0, 0, 0, 0), ...part('Z', 'I'.charCodeAt(0)), ...part('E', ...goodbye)]
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.once('data', () => socket.end(Uint8Array.from(words)))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    return `postgres://u@127.0.0.1:${(server.address() as AddressInfo).port}/d`
  }

  test.each(['our own pool', "the application's"])(
    'ends no process and is told with its reason: %s',
    async (whose) => {
      const url = await listen()
      const pool = new pg.Pool({ connectionString: url })
      const clients = new Clients(whose === 'our own pool' ? url : (pool as never), true)
      const uncaught: unknown[] = []
      const note = (error: unknown): void => void uncaught.push(error)
      process.prependListener('uncaughtException', note)
      for (let attempt = 0; attempt < 5; attempt++) {
        const error = await clients.take(attempt % 2 === 0).catch((error: unknown) => error)
        expect(error).toBeInstanceOf(NotSent)
        // The reason that the server gave, not only that the connection is lost.
        expect((error as NotSent).cause).toMatchObject({ code: '57P01' })
      }
      process.off('uncaughtException', note)
      expect(uncaught).toEqual([])
      await clients.end()
      await pool.end()
    },
  )
})

test('bytes are equal whatever format the server uses', async () => {
  const name = new URL(database.url).pathname.slice(1)
  const payload = Uint8Array.from({ length: 256 }, (_, i) => i)
  await database.owner.query(`alter database ${name} set bytea_output = escape`)
  const port = await open(postgres(database.url))
  try {
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['a'])
    if (!a) throw new Error('not created')
    await port.mail.send([{ run: 'a', kind: 'signal', name: 's', key: null, by: null, payload }], null)
    expect(await port.mail.list(a.run, 0)).toMatchObject([{ payload }])
  } finally {
    await port.close()
    await database.owner.query(`alter database ${name} reset bytea_output`)
  }
})

test('nulls in a list are read with any array_nulls', async () => {
  const name = new URL(database.url).pathname.slice(1)
  await database.owner.query(`alter database ${name} set array_nulls = off`)
  const port = await open(postgres(database.url))
  try {
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const runs = await createOwned(port, worker, ['a', 'b'])
    const outcomes = await port.log.commit(
      worker,
      runs.map((run) => newUnit(run)),
    )
    expect(outcomes).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
  } finally {
    await port.close()
    await database.owner.query(`alter database ${name} reset array_nulls`)
  }
})

describe('a pool of the application', () => {
  test("idle connections of an application's pool that break do not end the process", async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 5 })
    const ports = [await open(postgres({ pool })), await open(postgres({ pool }))]
    await ports[0]?.close()
    const broken = once(pool, 'error')
    await database.owner.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'pawl_app'`,
    )
    // Without a listener of Pawl's this would be the only one, and `once` takes it away.
    await broken
    expect(pool.listenerCount('error')).toBe(1)
    expect(await ports[1]?.runs.find('none')).toBeNull()
    await ports[1]?.close()
    expect(pool.listenerCount('error')).toBe(0)
    await pool.end()
  })

  test('a worker keeps its heartbeat and commits if all other connections of the pool are in use', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 5 })
    const port = await open(postgres({ pool }))
    const worker = await port.workers.register({ name: 'w', leaseMs: 1_000 })
    const [a] = await createOwned(port, worker, ['a'])
    if (!a) throw new Error('not created')
    await port.log.commit(worker, [newUnit(a)])
    const taken = await Promise.all(
      Array.from({ length: 5 - pool.totalCount + pool.idleCount }, () => pool.connect()),
    )
    expect(pool.totalCount - pool.idleCount).toBe(5)
    expect(await port.workers.beat(worker)).toBe(true)
    for (let head = 2; head < 20; head++) {
      expect(await port.log.commit(worker, [newUnit({ ...a, head })])).toMatchObject([{ outcome: 'ok' }])
    }
    // A call without a connection waits, and continues when there is one again.
    const found = port.runs.find('a')
    expect(await Promise.race([found, new Promise((resolve) => setTimeout(resolve, 50, 'waiting'))])).toBe(
      'waiting',
    )
    for (const client of taken) client.release()
    expect(await found).toMatchObject({ head: 20 })
    await port.close()
    await pool.end()
  })

  test('a pool of the application stays open, with unchanged sessions', async () => {
    const pool = new pg.Pool({ connectionString: database.url, max: 6 })
    const port = await open(postgres({ pool }))
    const worker = await port.workers.register({ name: 'w', leaseMs: 1_000 })
    const standings = await createOwned(port, worker, ['a', 'b'])
    await Promise.all(standings.map((standing) => port.log.commit(worker, [newUnit(standing)])))
    // On a connection that is lent for one statement.
    await port.runs.find('a')
    await port.close()
    const clients = await Promise.all(Array.from({ length: 6 }, () => pool.connect()))
    for (const client of clients) {
      const { rows } = await client.query(
        `select current_setting('plan_cache_mode') as mode, current_setting('enable_mergejoin') as merges, 9007199254740993 as big`,
      )
      expect(rows).toEqual([{ mode: 'auto', merges: 'on', big: '9007199254740993' }])
      client.release()
    }
    await pool.end()
  })
})

test('shared sessions, as with PgBouncer, are reported with the remedy', async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 6 })
  const port = await open(postgres({ pool }))
  expect(await port.runs.find('a')).toBeNull()
  // What was prepared is gone, as it is where the next statement meets another session.
  const clients = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()))
  for (const client of clients) {
    await client.query('deallocate all')
    client.release()
  }
  const error = await port.runs.find('a').catch((reason: unknown) => reason)
  if (!PawlError.is(error, 'store-unusable')) throw error
  expect(error.message).toContain('several sessions share it')
  expect(error.message).toContain('Nothing of this call was done.')
  expect(error.details.remedy).toContain('prepared: false, notifications: false')
  await port.close()
  await pool.end()
})

describe('connections that break', () => {
  test('connections that break between two calls are replaced without an error', async () => {
    const port = await open(postgres(database.url))
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['a'])
    if (!a) throw new Error('not created')
    await port.log.commit(worker, [newUnit(a)])
    for (let head = 2; head < 5; head++) {
      await cutAll()
      expect(await port.runs.find('a')).toMatchObject({ id: 'a' })
      await cutAll()
      expect(await port.workers.beat(worker)).toBe(true)
      expect(await port.log.commit(worker, [newUnit({ ...a, head })])).toMatchObject([
        { outcome: 'ok', epoch: 1 },
      ])
      await cutAll()
      expect(await port.runs.create([newRun(`b${head}`)])).toMatchObject([{ outcome: 'created' }])
    }
    await port.close()
  })

  test('a commit whose connection breaks is written or not, and its outcome is known', async () => {
    const port = await open(postgres(database.url))
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['a'])
    if (!a) throw new Error('not created')
    const other = await database.owner.connect()
    await other.query('begin')
    await other.query('select from pawl.runs for no key update')
    const outcome = port.log.commit(worker, [newUnit(a)])
    await until(async () => (await cutAll("and wait_event_type = 'Lock'")) > 0)
    await other.query('rollback')
    other.release()
    expect(await outcome).toEqual([{ outcome: 'lost', epoch: 2 }])
    expect(await port.log.commit(worker, [newUnit({ ...a, epoch: 2 })])).toMatchObject([{ outcome: 'ok' }])
    await port.close()
  })

  test('a silent connection delays a heartbeat less than any other call', async () => {
    const proxy = await TcpProxy.start({ targetPort: Number(new URL(database.url).port) })
    const port = await open(postgres(changeUrl(database.url, { port: proxy.port })))
    const worker = await port.workers.register({ name: 'w', leaseMs: 900 })
    proxy.decide = () => 'stall'
    const given: string[] = []
    const calls = [
      port.runs.find('a').catch(() => given.push('find')),
      port.workers.beat(worker).catch(() => given.push('beat')),
    ]
    await Promise.race(calls)
    // A third of its lease, and not the seconds that others are given.
    expect(given).toEqual(['beat'])
    proxy.decide = () => 'pass'
    expect(await port.workers.beat(worker)).toBe(true)
    await port.close()
    await proxy.stop()
  })

  test('calls are late, and succeed, if all connections break for a while', async () => {
    const proxy = await TcpProxy.start({ targetPort: Number(new URL(database.url).port) })
    const port = await open(postgres(changeUrl(database.url, { port: proxy.port })))
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
    const [a] = await createOwned(port, worker, ['a'])
    if (!a) throw new Error('not created')
    const warnings: Error[] = []
    const onWarning = (warning: Error) => warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const { targetPort } = proxy
    proxy.targetPort = 1
    proxy.cut()
    const reads = Promise.all(Array.from({ length: 30 }, () => port.runs.find('a')))
    const calls = Promise.all([
      port.log.commit(worker, [newUnit(a)]),
      port.runs.create([newRun('b')]),
      port.mail.send([{ run: 'a', kind: 'signal', name: 's', key: null, by: null, payload: null }], null),
      port.runs.list(everything),
    ])
    await expect(port.claims.claim({ worker, procedures: [] }, 1)).rejects.toThrow('No connection')
    proxy.targetPort = targetPort
    const [[committed], [created], [sent], runs] = await calls
    expect(committed).toMatchObject({ outcome: 'ok' })
    expect(created).toMatchObject({ outcome: 'created' })
    expect(sent).toMatchObject({ outcome: 'stored' })
    expect(runs.length).toBeGreaterThan(0)
    for (const row of await reads) expect(row).toMatchObject({ id: 'a' })
    // Node warns of what looks like a leak, such as many waiting for one signal.
    expect(warnings).toEqual([])
    await port.close()
    await proxy.stop()
  })
})

describe('closing', () => {
  test('a closed store refuses calls, and can be closed again', async () => {
    const port = await open(postgres(database.url))
    await port.close()
    await port.close()
    await expect(port.runs.find('a')).rejects.toThrow('closed')
    await expect(port.runs.create([newRun('a')])).rejects.toThrow('closed')
  })

  test('closing ends the waits before retries', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const connections = new Database(database.url, nameTables('pawl'), true)
    const pauses = Promise.all(Array.from({ length: 3 }, () => connections.pause(9)))
    await connections.close()
    // No time passes here.
    await pauses
    await connections.pause(9)
  })

  test('a process that forgot to close the store exits', async () => {
    const program = await bundle(new URL('programs/forgetful.ts', import.meta.url).pathname)
    const child = spawn(process.execPath, [program, database.url], { stdio: ['ignore', 'pipe', 'inherit'] })
    onTestFinished(() => void child.kill('SIGKILL'))
    const written = text(child.stdout)
    const [code] = await once(child, 'exit')
    // Idle connections alone would keep it for ten seconds.
    expect(Number(await written)).toBeLessThan(9_000)
    await rm(join(program, '..'), { recursive: true })
    expect(code).toBe(0)
  })
})

/** Ends the sessions of the store; returns how many. */
async function cutAll(condition = ''): Promise<number> {
  const { rowCount } = await database.owner.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity
     where datname = current_database() and usename = 'pawl_app' ${condition}`,
  )
  return rowCount ?? 0
}
