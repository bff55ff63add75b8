import type { AskQuery, StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { InterposedPool } from '../../../test/support/interposed-pool.ts'
import { makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { explain, type Plan } from './support/explain.ts'
import { bytes, newEvent, newUnit, open, type Standing } from './support/units.ts'

// The planner believes what was so when it last counted: here that nothing is owned, open or unread. In truth
// thousands of runs are. A statement about a few of them must not walk past all others, as it does when its plan
// starts from what there is hardly any of.

const [old, live] = [20_000, 3_000]

let database: TestDatabase
let pool: InterposedPool
let port: StorePort
let worker: number
let runs: Standing[]
beforeAll(async () => {
  database = await makeDatabase()
  pool = new InterposedPool(database.url)
  port = await open(postgres({ pool }, { notifications: false }))
  worker = await port.workers.register({ name: 'w', leaseMs: 3_600_000 })
  for (const table of ['runs', 'run_info', 'events', 'messages', 'asks'])
    await database.owner.query(`alter table pawl.${table} set (autovacuum_enabled = false)`)
  await fill('old', old, { worker: 'null', state: 1, status: 1, used: true })
  await database.owner.query('analyze pawl.runs, pawl.run_info, pawl.events, pawl.messages, pawl.asks')
  const { rows } = await fill('live', live, { worker, state: 0, status: 0, used: false })
  runs = rows.map(({ run }) => ({ run: Number(run), epoch: 1, head: 3, mail: 1 }))
})
afterAll(async () => {
  await port.close()
  await pool.end()
  await database.remove()
})

interface Kind {
  readonly worker: number | 'null'
  readonly state: number
  readonly status: number
  readonly used: boolean
}

/** Runs that have a log, a message and a question. */
function fill(name: string, count: number, { worker, state, status, used }: Kind) {
  return database.owner.query<{ run: string }>(`
    with run as (
      insert into pawl.runs (worker, created_at, epoch, head, mail, version, state, id, procedure, link)
      select ${worker}, 1, 1, 3, 1, 1, ${state}, '${name} ' || i, 'order', '' from generate_series(1, ${count}) i
      returning run),
    info as (insert into pawl.run_info (run, procedure, tags) select run, 'order', '{}' from run),
    log as (
      insert into pawl.events (run, at, seq, epoch, position, turn, nth, type, failed, name, payload)
      select run, 1, seq, 1, seq, 0, 0, 3, false, 'step', '\\x01' from run, generate_series(0, 2) seq),
    message as (
      insert into pawl.messages (run, at, n, kind, used, name, payload)
      select run, 1, 1, 1, ${used}, 'paid', '\\x01' from run),
    ask as (
      insert into pawl.asks (run, opened_at, position, status, urgency, kind, key, audience, escalate_to, payload)
      select run, 1, 2, ${status}, 1, 'approve', 'key', '{}', '{}', '\\x01' from run)
    select run from run order by run`)
}

const take = (count: number): Standing[] => runs.splice(0, count)
const ids = (standings: readonly Standing[]) => standings.map(({ run }) => `live ${run - old}`)
const closing = (standing: Standing) =>
  newUnit(standing, { closes: [{ position: 2, status: 'withdrawn' }], consumes: [1] })
const answer = (run: string) => ({ run, position: 2, by: 'user:ana', payload: bytes('yes') })
const signal = (run: string, n: number) =>
  ({ run, kind: 'signal', name: 'paid', key: `key ${n}`, by: null, payload: bytes('1') }) as const

const asksOf = (run: string): AskQuery => ({
  ...{ run, status: 'open', to: null, procedure: null, kind: null, overdue: false, lapsed: null },
  ...{ now: 1, after: null, limit: 50 },
})

const statements: readonly (readonly [what: string, act: () => Promise<unknown>])[] = [
  [
    'a commit of one event',
    () =>
      port.log.commit(
        worker,
        take(1).map((run) => newUnit(run)),
      ),
  ],
  [
    'a commit of one event and the message it records',
    () =>
      port.log.commit(
        worker,
        take(1).map((run) => newUnit(run, { consumes: [1] })),
      ),
  ],
  [
    'a commit of the end of one run',
    () =>
      port.log.commit(
        worker,
        take(1).map((run) =>
          newUnit(run, {
            events: [newEvent('', { type: 'ended' })],
            strict: true,
            next: { do: 'end', state: 'completed' },
          }),
        ),
      ),
  ],
  [
    'a commit of ten events',
    () =>
      port.log.commit(
        worker,
        take(10).map((run) => newUnit(run)),
      ),
  ],
  ['a commit that closes ten questions', () => port.log.commit(worker, take(10).map(closing))],
  ['an answer', () => port.asks.answer(ids(take(1)).map(answer), null)],
  ['ten answers', () => port.asks.answer(ids(take(10)).map(answer), null)],
  ['a signal', () => port.mail.send(ids(take(1)).map(signal), null)],
  ['ten signals', () => port.mail.send(ids(take(10)).map(signal), null)],
  ['a log', () => port.log.load(take(1)[0]?.run ?? 0, 0, 3)],
  ['ten logs', () => Promise.all(take(10).map(({ run }) => port.log.load(run, 0, 3)))],
  ['the mail of one run', () => port.mail.list(take(1)[0]?.run ?? 0, 0)],
  ['the mail of ten runs', () => Promise.all(take(10).map(({ run }) => port.mail.list(run, 0)))],
  ['ten questions', () => Promise.all(ids(take(10)).map((run) => port.asks.find(run, 2)))],
  [
    'ten questions by the keys of their runs',
    () => Promise.all(take(10).map(({ run }) => port.asks.findByRunKey(run, 2))),
  ],
  [
    'ten questions by their keys',
    () => Promise.all(ids(take(10)).map((run) => port.asks.findByKey(run, 'key'))),
  ],
  ['the questions of one run', () => port.asks.list(asksOf(ids(take(1))[0] ?? ''))],
  ['ten runs', () => Promise.all(ids(take(10)).map((run) => port.runs.find(run)))],
]

/** What one statement looks at. */
async function planOf(act: () => Promise<unknown>): Promise<Plan> {
  const plans: Plan[] = []
  pool.onQuery = async (text, go, { name, values = [] }) => {
    // Others belong to a new connection.
    if (text.includes('"pawl"')) plans.push(await explain(database.owner, { name, text, values }))
    return go()
  }
  await act()
  expect(plans).toHaveLength(1)
  return plans[0] as Plan
}

test.for(statements)('%s does not read all other rows', async ([, act]) => {
  const { rows, text } = await planOf(act)
  expect(rows, text).toBeLessThan(100)
})

describe('runs with much each', () => {
  const [count, each] = [40, 5_000]
  let few: Standing[]
  beforeAll(async () => {
    const { owner } = database
    await owner.query('truncate pawl.messages, pawl.asks')
    few = []
    // Ten at a time: while a long transaction writes, no dead row is cleaned up on the whole server.
    for (let from = 1; from <= count; from += 10) {
      const { rows } = await owner.query<{ run: string }>(`
        with run as (
          insert into pawl.runs (worker, created_at, epoch, head, mail, version, state, id, procedure, link)
          select ${worker}, 1, 1, 3, ${each}, 1, 0, 'few ' || i, 'order', ''
          from generate_series(${from}, ${from + 9}) i
          returning run),
        info as (insert into pawl.run_info (run, procedure, tags) select run, 'order', '{}' from run),
        message as (
          insert into pawl.messages (run, at, n, kind, used, name, key)
          select run, 1, n, 1, true, 'paid', 'key ' || n from run, generate_series(1, ${each}) n),
        ask as (
          insert into pawl.asks (run, opened_at, position, status, urgency, kind, key, audience, escalate_to, payload)
          select run, 1, position, 0, 1, 'approve', position, '{}', '{}', '\\x01'
          from run, generate_series(1, ${each}) position)
        select run from run order by run`)
      few.push(...rows.map(({ run }) => ({ run: Number(run), epoch: 1, head: 3, mail: each })))
    }
    await owner.query('analyze pawl.messages, pawl.asks')
  })

  const takeFew = (count: number) => few.splice(0, count)
  const names = (standings: readonly Standing[]) => standings.map(({ run }) => `few ${run - old - live}`)
  const statements: readonly (readonly [what: string, act: () => Promise<unknown>])[] = [
    [
      'a commit of one event and the message it records',
      () =>
        port.log.commit(
          worker,
          takeFew(1).map((run) => newUnit(run, { consumes: [7] })),
        ),
    ],
    ['a commit that closes ten questions', () => port.log.commit(worker, takeFew(10).map(closing))],
    ['an answer', () => port.asks.answer(names(takeFew(1)).map(answer), null)],
    ['ten answers', () => port.asks.answer(names(takeFew(10)).map(answer), null)],
    ['a signal', () => port.mail.send(names(takeFew(1)).map(signal), null)],
    ['ten signals', () => port.mail.send(names(takeFew(10)).map(signal), null)],
    ['the mail of ten runs', () => Promise.all(few.slice(-10).map(({ run }) => port.mail.list(run, each)))],
    ['ten questions', () => Promise.all(names(few.slice(-10)).map((run) => port.asks.find(run, 2)))],
    [
      'ten questions by their keys',
      () => Promise.all(names(few.slice(-10)).map((run) => port.asks.findByKey(run, '7'))),
    ],
  ]
  test.for(statements)('%s does not read all rows of a long run', async ([, act]) => {
    const { rows, text } = await planOf(act)
    expect(rows, text).toBeLessThan(100)
  })
})

test.for([null, 'order'])(
  'a list of the runs that are running, not of all that wait (%s)',
  async (procedure) => {
    await database.owner.query('update pawl.runs set worker = null')
    await database.owner.query('analyze pawl.runs, pawl.run_info')
    const filter = {
      procedure,
      statuses: ['running' as const],
      tag: null,
      parent: null,
      failedUndo: false,
      before: null,
      limit: 50,
    }
    const { rows, text } = await planOf(() => port.runs.list(filter))
    expect(rows, text).toBeLessThan(100)
  },
)
