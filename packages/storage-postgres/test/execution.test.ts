import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { Database, type Runner } from '../src/connection/database.ts'
import { Execution } from '../src/connection/fast-path/execution.ts'
import { Statement } from '../src/connection/fast-path/statement.ts'
import { classify } from '../src/faults.ts'
import { nameTables } from '../src/names.ts'
import { until } from './support/units.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.remove())

type Query = (this: unknown, ...all: unknown[]) => unknown

/** Intercepts the calls to a client until the test ends. */
function interpose(wrap: (query: Query) => Query): void {
  const prototype = pg.Client.prototype as unknown as { query: Query }
  const { query } = prototype
  prototype.query = wrap(query)
  onTestFinished(() => {
    prototype.query = query
  })
}

/** One connection, with what its client was given to do. */
function connect(connection: string | pg.Pool): { readonly connection: Runner; readonly given: unknown[] } {
  const own = new Database(connection as string, nameTables('pawl'), true)
  onTestFinished(() => own.close())
  const given: unknown[] = []
  interpose(
    (query) =>
      function (...all) {
        given.push(all[0])
        return query.apply(this, all)
      },
  )
  return { connection: own.reserve(), given }
}

describe('a statement that its connection has prepared', () => {
  let connection: Runner
  let given: unknown[]
  beforeEach(() => {
    const connected = connect(database.url)
    connection = connected.connection
    given = connected.given
  })
  const executions = (): number => given.filter((one) => one instanceof Execution).length

  test('a prepared statement is executed without a description, with the same rows', async () => {
    const statement = new Statement(
      `select n, n * 3000000000 as big, $2::text as word, $3::bytea as bytes, n > 1 as more, null::int as none, $4::text[] as words
       from generate_series(1, $1::int) as n`,
    )
    const values = [3, 'é"\\', Buffer.from([0, 255]), '{a,"b c"}']
    const first = await connection.run(statement, values)
    expect(executions()).toBe(0)
    expect(first).toHaveLength(3)
    expect(await connection.run(statement, values)).toEqual(first)
    expect(await connection.run(statement, [0, 'x', null, '{}'])).toEqual([])
    expect(executions()).toBe(2)
    expect(await connection.run(statement, values)).toEqual(
      [1, 2, 3].map((n) => ({
        ...{ n, big: n * 3_000_000_000, word: 'é"\\', bytes: Uint8Array.of(0, 255) },
        ...{ more: n > 1, none: null, words: ['a', 'b c'] },
      })),
    )
  })

  test('a prepared statement accepts no parameters, numbers, booleans and nulls', async () => {
    const statement = new Statement('select $1::bigint as n, $2::bool as yes, $3::text as none')
    for (let i = 0; i < 2; i++)
      expect(await connection.run(statement, [-(2 ** 40), false, null])).toEqual([
        { n: -(2 ** 40), yes: false, none: null },
      ])
    expect(executions()).toBe(1)
  })

  const divide = new Statement('select 6 / $1::int as quotient, pg_backend_pid() as pid')

  test('a prepared statement that the server refuses fails with its code, and the connection stays', async () => {
    const [before] = await connection.run<{ readonly pid: number }>(divide, [1])
    await expect(connection.run(divide, [0])).rejects.toMatchObject({ code: '22012' })
    expect(await connection.run(divide, [2])).toEqual([{ quotient: 3, pid: before?.pid }])
    expect(executions()).toBe(2)
  })

  const wait = new Statement('select pg_sleep($1::float8)::text as slept')

  test('a prepared statement whose connection breaks may have been executed; the next one has another connection', async () => {
    const [before] = await connection.run<{ readonly pid: number }>(divide, [1])
    await connection.run(wait, [0])
    const waiting = connection.run(wait, [60])
    const isWaiting = `select 1 from pg_stat_activity where pid = ${before?.pid} and wait_event = 'PgSleep'`
    await Promise.all([
      expect(waiting).rejects.toSatisfy((error) => classify(error) === 'unknown'),
      until(async () => (await database.owner.query(isWaiting)).rowCount === 1).then(() =>
        database.owner.query(`select pg_terminate_backend(${before?.pid})`),
      ),
    ])
    const [after] = await connection.run<{ readonly pid: number }>(divide, [1])
    expect(after?.pid).not.toBe(before?.pid)
  })

  test('a prepared statement without a response for too long fails with its connection', async () => {
    const [before] = await connection.run<{ readonly pid: number }>(divide, [1])
    await connection.run(wait, [0])
    await expect(connection.run(wait, [60], 200)).rejects.toSatisfy((error) => classify(error) === 'unknown')
    const [after] = await connection.run<{ readonly pid: number }>(divide, [1])
    expect(after?.pid).not.toBe(before?.pid)
  })

  test('a number beyond 2^53 is returned rounded, outside the safe integers', async () => {
    const power = new Statement(
      'select 2::bigint ^ $1::int::bigint as plain, (1::bigint << $1::int) as number',
    )
    await connection.run(power, [5])
    const [row] = await connection.run<{ readonly number: number }>(power, [60])
    expect(Number.isSafeInteger(row?.number)).toBe(false)
    expect(executions()).toBe(1)
  })

  test('parameters that cannot be serialized fail the call, and do not end the process', async () => {
    const statement = new Statement('select $1::text as word')
    await connection.run(statement, ['a'])
    await expect(connection.run(statement, [{} as never])).rejects.toBeInstanceOf(TypeError)
    expect(await connection.run(statement, ['b'])).toEqual([{ word: 'b' }])
  })
})

test('a pool of the application gets the queries of its driver, and no others', async () => {
  const pool = new pg.Pool({ connectionString: database.url, max: 3 })
  onTestFinished(() => pool.end())
  const { connection, given } = connect(pool)
  const statement = new Statement('select $1::int as n')
  for (const n of [1, 2, 3]) expect(await connection.run(statement, [n])).toEqual([{ n }])
  expect(given.length).toBeGreaterThanOrEqual(3)
  expect(given.some((one) => one instanceof Execution)).toBe(false)
})

describe('a tracer of all queries', () => {
  const statement = new Statement('select 6 / $1::int as quotient, 3000000000 as big, $2::bytea as bytes')

  /** @param change what is handed to the driver in place of a query */
  async function watch(change: (query: object) => object): Promise<void> {
    interpose(
      (query) =>
        function (one, ...rest) {
          return query.call(this, typeof one === 'object' ? change(one as object) : one, ...rest)
        },
    )
    const { connection } = connect(database.url)
    const rows = [{ quotient: 3, big: 3_000_000_000, bytes: Uint8Array.of(1) }]
    for (let i = 0; i < 3; i++) expect(await connection.run(statement, [2, Buffer.from([1])])).toEqual(rows)
    await expect(connection.run(statement, [0, null])).rejects.toMatchObject({ code: '22012' })
    expect(await connection.run(statement, [2, Buffer.from([1])])).toEqual(rows)
  }

  test('a tracer of all queries that copies them changes nothing', () => watch((query) => ({ ...query })))

  test('a tracer of all queries that waits for their callbacks changes nothing', async () => {
    let ended = 0
    await watch((query) => {
      const { callback } = query as { callback?: (...all: unknown[]) => void }
      const note = (...all: unknown[]): void => {
        ended++
        callback?.(...all)
      }
      return callback ? Object.assign(query, { callback: note }) : query
    })
    expect(ended).toBe(4)
  })
})

test('PAWL_POSTGRES_PLAIN=1 executes every statement with pg, with the same rows', async () => {
  vi.stubEnv('PAWL_POSTGRES_PLAIN', '1')
  vi.resetModules()
  onTestFinished(() => {
    vi.unstubAllEnvs()
    vi.resetModules()
  })
  const { Database: PlainDatabase } = await import('../src/connection/database.ts')
  const own = new PlainDatabase(database.url, nameTables('pawl'), true)
  onTestFinished(() => own.close())
  const given: unknown[] = []
  interpose(
    (query) =>
      function (...all) {
        given.push(all[0])
        return query.apply(this, all)
      },
  )
  const connection = own.reserve()
  const statement = new Statement('select $1::int as n, $2::bytea as bytes')
  const first = await connection.run(statement, [7, Buffer.from([0, 255])])
  expect(await connection.run(statement, [7, Buffer.from([0, 255])])).toEqual(first)
  const ours = given.filter((one) => (one as { readonly name?: string }).name?.startsWith('pawl_'))
  expect(ours.map((one) => Object.getPrototypeOf(one) === Object.prototype)).toEqual([true, true])
})
