import type { StorePort, Unit } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { empty, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { bytes, createOwned, newAsk, newEvent, newUnit, open, type Standing } from './support/units.ts'

let database: TestDatabase
let pool: RecordingPool
let port: StorePort
let worker: number
beforeAll(async () => {
  database = await makeDatabase()
  pool = new RecordingPool(database.url)
  port = await open(postgres({ pool }))
})
afterAll(async () => {
  await port.close()
  await pool.end()
  await database.remove()
})
beforeEach(async () => {
  worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
})
afterEach(() => empty(database.owner, 'pawl'))

describe('the shapes', () => {
  test('a commit is one statement, and names only the tables that change', async () => {
    const [a, b] = await createRuns(2)
    const write = async (...units: readonly Unit[]): Promise<{ tables: string; isBatch: boolean }> => {
      pool.statements.length = 0
      for (const outcome of await port.log.commit(worker, units))
        expect(outcome).toMatchObject({ outcome: 'ok' })
      const sent = pool.statements.filter(({ text }) => text.includes('"pawl".'))
      expect(sent).toHaveLength(1)
      const { text } = sent[0]!
      const named = [...text.matchAll(/"pawl"\."(\w+)"/g)].map(([, name = '']) => name)
      return { tables: [...new Set(named)].sort().join(), isBatch: text.includes('unnest') }
    }
    const end = (state: 'completed' | 'failed') => ({ strict: true, next: { do: 'end', state } }) as const
    const one = { isBatch: false }
    const all = { isBatch: true, tables: 'ask_to,asks,events,messages,news,run_info,runs' }

    expect(await write(newUnit(a))).toEqual({ ...one, tables: 'events,runs' })
    expect(await write(newUnit({ ...a, head: 2 }), newUnit(b))).toEqual({
      isBatch: true,
      tables: 'events,runs',
    })
    const asks = newUnit({ ...a, head: 3 }, { opens: [newAsk(0)] })
    expect(await write(asks, newUnit({ ...b, head: 2 }, { info: bytes('x') }))).toEqual(all)
    const receives = newUnit({ ...a, head: 4 }, { consumes: [1] })
    expect(await write(receives)).toEqual({ ...one, tables: 'events,messages,runs' })
    const ends = newUnit({ ...a, head: 5 }, end('completed'))
    expect(await write(ends)).toEqual({ ...one, tables: 'events,news,run_info,runs' })
    expect(await write(newUnit({ ...b, head: 3 }, { consumes: [1], ...end('failed') }))).toEqual(all)
    const [c, d] = await createRuns(2, 'wide')
    const toOther = {
      run: 'wide 1',
      kind: 'signal',
      name: 'x',
      key: null,
      by: null,
      payload: null,
      must: true,
    } as const
    const sends = { ...newUnit(c), effects: [{ do: 'send', message: toOther } as const] }
    expect(await write(sends)).toEqual({
      isBatch: true,
      tables: 'ask_to,asks,checkpoints,events,messages,news,notice_to,notices,run_info,run_state,runs',
    })
    expect(await write(newUnit({ ...c, head: 2 }), newUnit(d))).toEqual({
      isBatch: true,
      tables: 'events,runs',
    })
  })

  test('a step keeps the row of its run on its page', async () => {
    // A session tells what it did when it ends.
    const stepping = await open(postgres(database.url))
    const [a] = await createRuns(1)
    for (let head = 1; head <= 200; head++) await stepping.log.commit(worker, [newUnit({ ...a, head })])
    await stepping.close()
    const statistics = await readStatistics()
    expect(statistics.updates).toBeGreaterThanOrEqual(150)
    expect(statistics.onPage / statistics.updates).toBeGreaterThan(0.8)
  })
})

describe('limits', () => {
  test('of many units, only a taken seq and an unstorable name are refused', async () => {
    const standings = await createRuns(40)
    const taken = standings[27]
    await database.owner.query(
      `insert into pawl.events (run, at, seq, epoch, position, turn, nth, type, failed, name) values ($1, 0, 1, 1, 0, 0, 0, 1, false, 'there')`,
      [taken?.run],
    )
    const units = standings.map((standing, index) =>
      newUnit(standing, index === 13 ? { events: [newEvent('a\0b')] } : {}),
    )
    const outcomes = (await port.log.commit(worker, units)).map(({ outcome }) => outcome)
    const refused = outcomes.flatMap((outcome, index) => (outcome === 'ok' ? [] : [[index, outcome]]))
    expect(refused).toEqual([
      [13, 'conflict'],
      [27, 'conflict'],
    ])
    expect(await countEvents('step')).toBe(38)
  })

  test('more bytes than fit in one statement use several', async () => {
    const standings = await createRuns(20)
    const payload = new Uint8Array(2 ** 20).fill(7)
    pool.statements.length = 0
    const outcomes = await port.log.commit(
      worker,
      standings.map((standing) => newUnit(standing, { events: [newEvent('large', { payload })] })),
    )
    expect(outcomes.every(({ outcome }) => outcome === 'ok')).toBe(true)
    expect(pool.statements.filter(({ text }) => text.includes('judged')).length).toBeGreaterThanOrEqual(3)
    const [event] = await port.log.load(standings[19]?.run ?? 0, 1, 1)
    expect(Buffer.compare(event?.payload ?? new Uint8Array(), payload)).toBe(0)
  })

  test('a part that cannot be written now is lost, and the rest of the call is written', async () => {
    await refuse('refused', 'P0001')
    const standings = await createRuns(3)
    const payload = new Uint8Array(6 * 2 ** 20)
    const units = standings.map((standing, index) =>
      newUnit(standing, { events: [newEvent(index === 0 ? 'refused' : 'step', { payload })] }),
    )
    expect(await port.log.commit(worker, units)).toMatchObject([
      { outcome: 'lost', epoch: 1 },
      { outcome: 'ok' },
      { outcome: 'ok' },
    ])
  })

  test('a call rejects with the cause if none of it can be written', async () => {
    await refuse('refused', 'P0001')
    const [a] = await createRuns(1)
    const unit = newUnit(a, { events: [newEvent('refused')] })
    await expect(port.log.commit(worker, [unit])).rejects.toThrow('told to refuse')
    expect(await countEvents('refused')).toBe(0)
  })

  test('two units of one run in one call are an error of the caller', async () => {
    const [a] = await createRuns(1)
    await expect(port.log.commit(worker, [newUnit(a), newUnit({ ...a, head: 2 })])).rejects.toThrow(
      'two units',
    )
    expect(await countEvents('step')).toBe(0)
  })

  test('two of ten concurrent commits run at once', async () => {
    const standings = await createRuns(10)
    const outcomes = await Promise.all(
      standings.map((standing) => port.log.commit(worker, [newUnit(standing)])),
    )
    expect(outcomes.flat().every(({ outcome }) => outcome === 'ok')).toBe(true)
    expect(pool.maxAtOnce('set head = head + 1')).toBe(2)
  })
})

describe('races that are lost', () => {
  for (const code of ['40001', '40P01']) {
    test(`${code} is retried without an error`, async () => {
      await refuse('unlucky', code, 3)
      const [a, b] = await createRuns(2)
      const events = [newEvent('unlucky')]
      const outcomes = await port.log.commit(worker, [newUnit(a, { events }), newUnit(b)])
      expect(outcomes).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
      expect(await countEvents('unlucky')).toBe(1)
      expect(await countEvents('step')).toBe(1)
    })
  }

  for (const code of ['57014', '55P03', '53200', '25006']) {
    test(`${code} before the commit is retried`, async () => {
      await refuse('unlucky', code, 2)
      const [a] = await createRuns(1)
      const outcomes = await port.log.commit(worker, [newUnit(a, { events: [newEvent('unlucky')] })])
      expect(outcomes).toMatchObject([{ outcome: 'ok', epoch: 1 }])
      expect(await countEvents('unlucky')).toBe(1)
    })
  }
})

test('a full server is reported to the worker soon, and the commit is retried without a limit', async () => {
  await refuse('unlucky', '53100', 1_000_000)
  const [a] = await createRuns(1)
  await expect(
    port.log.commit(worker, [newUnit(a, { events: [newEvent('unlucky')] })]),
  ).rejects.toMatchObject({
    code: 'store-unusable',
    message: expect.stringMatching(
      /^PostgreSQL has no space left: .* Nothing of this call was done\. Free disk space/,
    ),
  })
  expect(await countEvents('unlucky')).toBe(0)
})

describe('plans', () => {
  test('statements are planned again when the tables have quadrupled', async () => {
    const [a] = await createRuns(1)
    const namesOf = () =>
      new Set(pool.statements.map(({ name }) => name).filter((name) => name !== undefined))
    await port.log.commit(worker, [newUnit(a)])
    pool.statements.length = 0
    await port.log.commit(worker, [newUnit({ ...a, head: 2 })])
    const before = namesOf()
    await database.owner.query(`select setval('pawl.runs_run_seq', (select max(run) * 4 from pawl.runs))`)
    await createRuns(1, 'later')
    pool.statements.length = 0
    await port.log.commit(worker, [newUnit({ ...a, head: 3 })])
    expect(before.size).toBe(1)
    expect([...namesOf()].filter((name) => before.has(name))).toEqual([])
  })
})

type Standings = [Standing, Standing, Standing, ...Standing[]]

/** The first three are named in most tests, whether they are there or not. */
async function createRuns(count: number, prefix = 'run'): Promise<Standings> {
  const ids = Array.from({ length: count }, (_, index) => `${prefix} ${index}`)
  return (await createOwned(port, worker, ids)) as Standings
}

async function countEvents(name: string): Promise<number> {
  const { rows } = await database.owner.query(
    'select count(*)::int as count from pawl.events where name = $1',
    [name],
  )
  return rows[0].count
}

/** Makes the database refuse an event of that name, always or the first few times. */
async function refuse(name: string, code: string, times = 1_000_000): Promise<void> {
  await database.owner.query(`
    drop sequence if exists pawl.refusals;
    create sequence pawl.refusals;
    grant usage on sequence pawl.refusals to pawl_app;
    create or replace function pawl.refuse() returns trigger language plpgsql as $$
      begin
        if new.name = '${name}' and nextval('pawl.refusals') <= ${times} then
          raise exception 'told to refuse' using errcode = '${code}';
        end if;
        return new;
      end $$;
    create or replace trigger refuse before insert on pawl.events for each row execute function pawl.refuse()`)
}

async function readStatistics(): Promise<{ readonly updates: number; readonly onPage: number }> {
  for (;;) {
    const { rows } = await database.owner.query(
      `select n_tup_upd::int as updates, n_tup_hot_upd::int as "onPage" from pg_stat_user_tables
       where schemaname = 'pawl' and relname = 'runs'`,
    )
    if (rows[0].updates >= 150) return rows[0]
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
