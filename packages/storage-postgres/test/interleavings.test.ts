import type { StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { MutantPool } from '../../../test/support/mutant-pool.ts'
import { empty, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import {
  bytes,
  createOwned,
  newAsk,
  newEvent,
  newUnit,
  open,
  order,
  type Standing,
  until,
} from './support/units.ts'

// What READ COMMITTED does when two transactions meet, each case with its outcome. One of the two is held open
// by hand; that the other has begun to wait is read from the server.

const park = { do: 'park', wakeAt: null } as const

let database: TestDatabase
let port: StorePort
let other: pg.PoolClient
let worker: number
beforeAll(async () => {
  database = await makeDatabase()
  port = await open(postgres(database.url))
  other = await database.owner.connect()
})
afterAll(async () => {
  await port.close()
  other.release()
  await database.remove()
})
beforeEach(async () => {
  worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
})
afterEach(async () => {
  await other.query('rollback')
  await empty(database.owner, 'pawl')
})

describe('a commit', () => {
  test('a commit waits for a takeover in progress, and is then refused; its neighbour is written', async () => {
    const [a, b] = await createTwo()
    await other.query('begin')
    await takeOver(a)
    const commit = port.log.commit(worker, [newUnit(a), newUnit(b)])
    await someoneWaits()
    await other.query('commit')
    expect((await commit).map(({ outcome }) => outcome)).toEqual(['fenced', 'ok'])
    expect(await countEvents(a)).toBe(1)
  })

  test('a commit of a single step waits for a takeover in progress, and writes nothing', async () => {
    const [a] = await createTwo()
    await other.query('begin')
    await takeOver(a)
    const commit = port.log.commit(worker, [newUnit(a)])
    await someoneWaits()
    await other.query('commit')
    expect(await commit).toEqual([{ outcome: 'fenced' }])
    expect(await countEvents(a)).toBe(1)
  })

  test('a commit is written when the takeover it waited for is rolled back', async () => {
    const [a] = await createTwo()
    await other.query('begin')
    await takeOver(a)
    const commit = port.log.commit(worker, [newUnit(a)])
    await someoneWaits()
    await other.query('rollback')
    expect(await commit).toMatchObject([{ outcome: 'ok' }])
  })

  test('a takeover waits for a commit, so that the new owner loads everything written', async () => {
    const [a, b] = await createTwo()
    const letWrite = await holdWrites()
    // Two units: the shape that locks first and writes later.
    const commit = port.log.commit(worker, [newUnit(a, { events: [newEvent('held')] }), newUnit(b)])
    await someoneWaits()
    const taken = takeOver(a)
    await someoneWaits(2)
    await letWrite()
    await taken
    expect(await countEvents(a)).toBe(2)
    expect(await commit).toMatchObject([{ outcome: 'ok' }, { outcome: 'ok' }])
  })

  test('control: a commit that did not lock its runs would write behind the new owner', async () => {
    const mutant = new MutantPool(database.url, (text) =>
      text.includes('judged')
        ? text
            .replace('order by run for no key update', 'order by run')
            .replace(/written as \([\s\S]*?\),\n\s*inserted/, 'inserted')
        : text,
    )
    const careless = await open(postgres({ pool: mutant }))
    const [a, b] = await createTwo()
    const letWrite = await holdWrites()
    const commit = careless.log.commit(worker, [newUnit(a, { events: [newEvent('held')] }), newUnit(b)])
    await someoneWaits()
    await takeOver(a)
    expect(await countEvents(a)).toBe(1)
    await letWrite()
    await commit
    expect(await countEvents(a)).toBe(2)
    await careless.close()
    await mutant.end()
  })

  test('a commit that parks waits for a message in progress, and keeps the run', async () => {
    const [a] = await createTwo()
    await other.query('begin')
    await other.query('update pawl.runs set mail = 1 where run = $1', [a.run])
    const commit = port.log.commit(worker, [newUnit(a, { next: park })])
    await someoneWaits()
    await other.query('commit')
    expect(await commit).toMatchObject([{ outcome: 'ok', parked: false, mail: 1 }])
  })

  test('a commit that closes an ask loses against an answer in progress', async () => {
    const [a] = await createTwo()
    await write(a, { opens: [newAsk(0)] })
    const answering = await open(postgres(database.url))
    await other.query('begin')
    await other.query('select from pawl.runs where run = $1 for no key update', [a.run])
    const answer = answering.asks.answer(
      [{ run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }],
      null,
    )
    await someoneWaits()
    const commit = port.log.commit(worker, [
      newUnit(a, { strict: true, closes: [{ position: 0, status: 'timed-out' }] }),
    ])
    await someoneWaits(2)
    await other.query('commit')
    expect(await answer).toMatchObject([{ outcome: 'answered' }])
    expect(await commit).toEqual([{ outcome: 'mail', mail: 1 }])
    await answering.close()
  })

  test('control: a commit that ignored new messages would lose an acknowledged answer', async () => {
    const [a] = await createTwo()
    await write(a, { opens: [newAsk(0)] })
    const answers = [{ run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }]
    expect(await port.asks.answer(answers, null)).toMatchObject([{ outcome: 'answered' }])
    const closes = [{ position: 0, status: 'timed-out' as const }]
    expect(await port.log.commit(worker, [newUnit(a, { strict: false, closes })])).toMatchObject([
      { outcome: 'ok' },
    ])
    // Its log records the timeout; the person was told that the answer counts.
    expect(await countEvents(a)).toBe(3)
    expect(await port.asks.find('a', 0)).toMatchObject({ status: 'answered', answeredBy: 'user:ann' })
  })
})

describe('a message', () => {
  test('a message sent twice at once with one key is stored once', async () => {
    const [a] = await createTwo()
    await other.query('begin')
    await other.query('select from pawl.runs where run = $1 for no key update', [a.run])
    const message = { run: 'a', kind: 'signal', name: 's', key: 'k', by: null, payload: null } as const
    const sent = [port.mail.send([message], null), port.mail.send([message], null)]
    await someoneWaits(2)
    await other.query('commit')
    const outcomes = (await Promise.all(sent)).flat().map(({ outcome }) => outcome)
    expect(outcomes.sort()).toEqual(['duplicate', 'stored'])
    expect(await port.runs.find('a')).toMatchObject({ mail: 1 })
  })

  test('a message for an ask that is being opened finds it, though it began before', async () => {
    const [a] = await createTwo()
    await openAskSlowly(a)
    const early = { run: 'a', kind: 'early', name: 'k', key: null, by: null, payload: bytes('yes') } as const
    const sent = port.mail.send([early], null)
    await someoneWaits()
    await other.query('commit')
    expect(await sent).toEqual([{ outcome: 'asked', position: 0 }])
  })

  test('a message to a run that ends meanwhile is refused', async () => {
    const [a] = await createTwo()
    await other.query('begin')
    await other.query('update pawl.runs set state = 1, worker = null, head = head + 1 where run = $1', [
      a.run,
    ])
    const sent = port.mail.send(
      [{ run: 'a', kind: 'signal', name: 's', key: null, by: null, payload: null }],
      null,
    )
    await someoneWaits()
    await other.query('commit')
    expect(await sent).toEqual([{ outcome: 'ended', state: 'completed' }])
  })
})

describe('an answer', () => {
  for (const others of [[], [{ run: 'b', position: 0, by: 'user:ann', payload: bytes('yes') }]])
    test(`an answer to an ask that is being opened finds it, though it began before (${others.length} others)`, async () => {
      const [a] = await createTwo()
      await openAskSlowly(a)
      const one = { run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }
      const answer = port.asks.answer([one, ...others], null)
      await someoneWaits()
      await other.query('commit')
      const missing = others.map(() => ({ outcome: 'missing' }))
      expect(await answer).toMatchObject([{ outcome: 'answered' }, ...missing])
    })

  test('control: an answer that did not look again would not find its ask', async () => {
    const mutant = new MutantPool(database.url, (text) =>
      text.replace("then 'again' else 'missing' end", "then 'missing' else 'missing' end"),
    )
    const careless = await open(postgres({ pool: mutant }))
    const [a] = await createTwo()
    await openAskSlowly(a)
    const one = { run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }
    // Two: one by itself is answered by a statement that always leaves it to this one to look again.
    const answer = careless.asks.answer([one, { ...one, position: 9 }], null)
    await someoneWaits()
    await other.query('commit')
    expect(await answer).toEqual([{ outcome: 'missing' }, { outcome: 'missing' }])
    await careless.close()
    await mutant.end()
  })

  test('one of a hundred concurrent answers wins', async () => {
    const ports = await Promise.all(Array.from({ length: 4 }, () => open(postgres(database.url))))
    const [a] = await createTwo()
    for (let position = 0; position < 5; position++) {
      await write(a, { opens: [newAsk(position)] })
      const answers = Array.from({ length: 100 }, (_, index) =>
        ports[index % 4]?.asks.answer(
          [{ run: 'a', position, by: `user:${index}`, payload: bytes('yes') }],
          null,
        ),
      )
      const outcomes = (await Promise.all(answers)).flat()
      const [winner, ...others] = outcomes.filter((one) => one?.outcome === 'answered')
      expect(winner).toBeDefined()
      expect(others).toEqual([])
      const losers = outcomes.flatMap((one) => (one?.outcome === 'closed' ? one.ask.answeredBy : []))
      expect(new Set(losers)).toEqual(new Set([(await port.asks.find('a', position))?.answeredBy]))
      // Of a hundred messages there is one.
      a.mail = position + 1
      expect(await port.runs.find('a')).toMatchObject({ mail: position + 1 })
    }
    await Promise.all(ports.map((one) => one.close()))
  })

  test('control: answers that read first and wrote then would win several times', async () => {
    const [a] = await createTwo()
    await write(a, { opens: [newAsk(0)] })
    const clients = await Promise.all([database.owner.connect(), database.owner.connect()])
    const seen = await Promise.all(
      clients.map((client) => client.query('select from pawl.asks where run = $1 and status = 0', [a.run])),
    )
    const won = await Promise.all(
      clients.map((client, index) =>
        client.query('update pawl.asks set status = 1, answered_by = $2 where run = $1', [a.run, index]),
      ),
    )
    for (const client of clients) client.release()
    expect(seen.map(({ rowCount }) => rowCount)).toEqual([1, 1])
    expect(won.map(({ rowCount }) => rowCount)).toEqual([1, 1])
  })
})

describe('a sweep', () => {
  test('a sweep skips a locked run, and finds it the next time', async () => {
    const doomed = await port.workers.register({ name: 'doomed', leaseMs: -1 })
    const standings = await createOwned(port, doomed, ['a', 'b'])
    await other.query('begin')
    await other.query('select from pawl.runs where run = $1 for no key update', [standings[0]?.run])
    expect(await port.workers.sweep()).toBe(1)
    await other.query('commit')
    expect(await port.workers.sweep()).toBe(1)
  })

  test('control: a sweep that waited for locked runs would deadlock with a commit', async () => {
    const mutant = new MutantPool(database.url, (text) => text.replace('of r skip locked', 'of r'))
    const waiting = await open(postgres({ pool: mutant }))
    const doomed = await port.workers.register({ name: 'doomed', leaseMs: -1 })
    const [a, b] = (await createOwned(port, doomed, ['a', 'b'])) as [Standing, Standing]
    const lock = 'select from pawl.runs where run = $1 for no key update'
    await other.query('begin')
    await other.query(lock, [b.run])
    const sweep = waiting.workers.sweep().then(
      () => 'swept',
      (error: { readonly code?: string }) => error.code,
    )
    await someoneWaits()
    // It has the first and waits for the second.
    const second = other.query(lock, [a.run]).then(
      () => 'locked',
      (error: { readonly code?: string }) => error.code,
    )
    expect(await Promise.race([second, sweep])).toBe('40P01')
    await second
    await other.query('rollback')
    await sweep
    await waiting.close()
    await mutant.end()
  })

  test('a sweep finds a run that was claimed while its worker was declared dead', async () => {
    const doomed = await port.workers.register({ name: 'doomed', leaseMs: -1 })
    const [a] = await createTwo()
    await other.query('begin')
    await other.query('update pawl.runs set worker = $2, epoch = epoch + 1 where run = $1', [a.run, doomed])
    expect(await port.workers.sweep()).toBe(0)
    await other.query('commit')
    expect(await port.workers.sweep()).toBe(1)
    const { runs } = await port.claims.claim({ worker, procedures: [order] }, 10)
    expect(runs).toMatchObject([{ id: 'a', epoch: 4 }])
  })

  test('a sweep does not declare a worker dead whose heartbeat is in progress', async () => {
    const late = await port.workers.register({ name: 'late', leaseMs: -1 })
    await other.query('begin')
    await other.query('update pawl.workers set beat_at = beat_at, lease_ms = 60000 where worker = $1', [late])
    await port.workers.sweep()
    await other.query('commit')
    expect(await port.workers.beat(late)).toBe(true)
  })
})

test('a worker that releases its runs waits for a commit of several, and releases all', async () => {
  const [a, b] = await createTwo()
  const lock = 'select from pawl.runs where run = $1 for no key update'
  await other.query('begin')
  await other.query(lock, [a.run])
  const released = port.workers.release(worker)
  await someoneWaits()
  // The commit continues with its second run, which the waiting one must not have.
  await other.query(lock, [b.run])
  await other.query('commit')
  await released
  for (const id of ['a', 'b']) expect(await port.runs.find(id)).toMatchObject({ owned: false })
})

async function createTwo(): Promise<[Standing, Standing]> {
  const [a, b] = await createOwned(port, worker, ['a', 'b'])
  if (!a || !b) throw new Error('not created')
  return [a, b]
}

async function write(standing: Standing, overrides: Parameters<typeof newUnit>[1]): Promise<void> {
  expect(await port.log.commit(worker, [newUnit(standing, overrides)])).toMatchObject([{ outcome: 'ok' }])
  standing.head++
}

/** What a claim by another worker does, on the connection that is held open. */
async function takeOver({ run }: Standing): Promise<void> {
  await other.query('update pawl.runs set worker = 4711, epoch = epoch + 1 where run = $1', [run])
}

/** A commit that opens an ask and has not committed yet. */
async function openAskSlowly({ run }: Standing): Promise<void> {
  await other.query('begin')
  await other.query('update pawl.runs set head = head + 1 where run = $1', [run])
  await other.query(
    `insert into pawl.asks (run, opened_at, position, status, urgency, kind, key, audience, escalate_to, payload)
     values ($1, 0, 0, 0, 1, 'approve', 'k', '{}', '{}', '')`,
    [run],
  )
  await other.query(
    `insert into pawl.events (run, at, seq, epoch, position, turn, nth, type, failed, name) values ($1, 0, 1, 1, 0, 0, 0, 1, false, 'x')`,
    [run],
  )
}

async function countEvents({ run }: Standing): Promise<number> {
  const { rows } = await other.query('select count(*)::int as count from pawl.events where run = $1', [run])
  return rows[0].count
}

function someoneWaits(count = 1): Promise<void> {
  return until(async () => (await countSessions("wait_event_type = 'Lock'")) >= count)
}

async function countSessions(condition: string): Promise<number> {
  const { rows } = await database.owner.query(
    `select count(*)::int as count from pg_stat_activity where datname = current_database() and ${condition}`,
  )
  return rows[0].count
}

/** An event called 'held' is not written until the function that is returned is called. */
async function holdWrites(): Promise<() => Promise<void>> {
  await database.owner.query(`
    create or replace function pawl.hold() returns trigger language plpgsql as
      $$ begin if new.name = 'held' then perform pg_advisory_xact_lock(4711); end if; return new; end $$;
    create or replace trigger hold before insert on pawl.events for each row execute function pawl.hold()`)
  const holder = await database.owner.connect()
  await holder.query('select pg_advisory_lock(4711)')
  return async () => {
    await holder.query('select pg_advisory_unlock(4711)')
    holder.release()
  }
}
