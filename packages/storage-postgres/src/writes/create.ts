import { type Created, eventTypeCode, type NewRun, operationKindCode } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer, type Value } from '../connection/fast-path/values.ts'
import type { Ownership } from '../connection/ownership.ts'
import { type Names, storeTime } from '../names.ts'
import { divide } from './batches.ts'
import { EventColumns, eventColumns, numberParameters, writeRows } from './columns.ts'
import { infoColumns, runColumns } from './rows.ts'

export type Create = (runs: readonly NewRun[]) => Promise<readonly Created[]>

export function prepareCreate(database: Database, ownership: Ownership): Create {
  const { insertOne, insert, find, lock } = writeStatements(database.names)

  function insertAll(runs: readonly NewRun[]): Promise<readonly CreatedRow[]> {
    const [run] = runs
    return run !== undefined && runs.length === 1
      ? database.run(insertOne, bindOne(run))
      : database.run(insert, bind(runs))
  }

  /** Creates the runs whose id is free. Ids are distinct. */
  async function createBatch(runs: readonly NewRun[]): Promise<ReadonlyMap<string, Created>> {
    return database.repeat(async (isRepeated) => {
      const created = new Map<string, Created>()
      // Again for a run that has been removed since its id was not free.
      for (let left = runs; left.length > 0; left = left.filter(({ id }) => !created.has(id))) {
        for (const { id, run, at } of await insertAll(left)) created.set(id, { outcome: 'created', run, at })
        const others = left.filter(({ id }) => !created.has(id))
        if (others.length === 0) break
        // A separate statement: the existing run may be newer than the snapshot of the insert.
        const rows = await database.run<FirstEvent>(isRepeated ? lock : find, [
          listTexts(others.map(({ id }) => id)),
        ])
        const known = new Map(rows.map((row) => [row.id, row]))
        for (const run of others) {
          const row = known.get(run.id)
          if (row) created.set(run.id, showExisting(run, row, isRepeated))
        }
      }
      return created
    })
  }

  return async (runs) => {
    const firsts = new Map<string, NewRun>()
    for (const run of runs) if (!firsts.has(run.id)) firsts.set(run.id, run)
    return ownership.during(async (noteOwned) => {
      const created = new Map<string, Created>()
      for (const batch of divide([...firsts.values()], sizeOf)) {
        for (const [id, one] of await createBatch(batch)) created.set(id, one)
      }
      return runs.map((run) => {
        const one = show(run, created, firsts.get(run.id) === run)
        if (one.outcome === 'created' && run.worker !== null) noteOwned(run.worker, one.run, 1)
        return one
      })
    })
  }

  /** Among several runs with one id, the first was created. */
  function show(run: NewRun, created: ReadonlyMap<string, Created>, isFirst: boolean): Created {
    const one = created.get(run.id) as Created
    database.plans.noteRun(one.run)
    if (one.outcome === 'exists' || !isFirst) return { outcome: 'exists', run: one.run }
    return { outcome: 'created', run: one.run, at: one.at }
  }
}

/** A run that has the id. After a lost reply, it may be the one that this call has created. */
function showExisting(run: NewRun, row: FirstEvent, isRepeated: boolean): Created {
  if (isRepeated && isSame(run, row)) return { outcome: 'created', run: row.run, at: row.at }
  return { outcome: 'exists', run: row.run }
}

interface CreatedRow {
  readonly id: string
  readonly run: number
  readonly at: number
}
interface FirstEvent extends CreatedRow {
  readonly payload: Uint8Array | null
}

/** Returns whether an earlier attempt with a lost reply created it: every first event has a unique seed. */
function isSame({ started }: NewRun, { payload }: FirstEvent): boolean {
  return payload !== null && started.payload !== null && asBuffer(payload).equals(started.payload)
}

function bindOne(run: NewRun): readonly Value[] {
  const { type, position, turn, kind, nth, name, failed, tookMs, payload } = run.started
  const kindNumber = kind === null ? null : operationKindCode.numberOf[kind]
  return [
    ...[run.worker, ...runColumns.one(run), ...infoColumns.one(run)],
    ...[eventTypeCode.numberOf[type], position, turn, kindNumber],
    ...[name, nth, failed, tookMs, payload && asBuffer(payload)],
  ]
}

function bind(runs: readonly NewRun[]): readonly Value[] {
  const events = new EventColumns()
  for (const [index, { started }] of runs.entries()) events.add(index + 1, 0, started, null)
  return [
    listBigints(runs.map(({ worker }) => worker)),
    ...runColumns.lists(runs),
    ...infoColumns.lists(runs),
    ...events.values(),
  ]
}

function sizeOf({ started }: NewRun): number {
  return 500 + (started.payload?.length ?? 0)
}

function writeStatements({
  runs,
  runKeys,
  runInfo,
  events,
  workers,
}: Names): Record<'insertOne' | 'insert' | 'find' | 'lock', Statement> {
  const types = ['bigint[]', runColumns.types, infoColumns.types].join(', ')
  const firstInfo = 2 + runColumns.count
  const firstEvent = firstInfo + infoColumns.count
  const event = Array.from({ length: 9 }, (_, index) => `$${firstEvent + index}`).join(', ')
  const existing = `
    select r.id, r.run, r.created_at as at, e.payload from ${runs} r left join ${events} e on e.run = r.run and e.seq = 0
    where r.id = any($1::text[]) order by r.run`
  return {
    insertOne: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      created as (
        insert into ${runs} (worker, wake_at, created_at, epoch, head, ${runColumns.names})
        select w.worker, case when w.worker is null then now end, now, 1, 1, ${runColumns.numbered(2)}
        from clock left join ${workers} w on w.worker = $1::bigint and not w.dead
        on conflict (id) do nothing returning run, id, procedure, created_at, worker),
      described as (
        insert into ${runInfo} (run, procedure, ${infoColumns.names})
        select run, procedure, ${infoColumns.numbered(firstInfo)} from created),
      started as (
        insert into ${events} (run, at, seq, epoch, type, position, turn, kind, name, nth, failed, took_ms, payload)
        select run, created_at, 0, case when worker is null then 0 else 1 end, ${event} from created)
      select id, run, created_at as at from created`),
    insert: new Statement(`
      with clock as materialized (select ${storeTime} as now),
      -- Numbered in the order they were given, and inserted in the order of their ids: two calls with the same
      -- ids then wait for one another in one direction only.
      numbered as materialized (
        select *, nextval('${runKeys}') as run
        from unnest(${numberParameters(1, types)}) with ordinality
          as g(worker, ${runColumns.names}, ${infoColumns.names}, i)),
      given as materialized (
        select g.*, w.worker as owner from numbered g
        left join ${workers} w on w.worker = g.worker and not w.dead),
      created as (
        insert into ${runs} (run, worker, wake_at, created_at, epoch, head, ${runColumns.names})
        select g.run, g.owner, case when g.owner is null then now end, now, 1, 1, ${runColumns.of('g')}
        from given g cross join clock order by g.id
        on conflict (id) do nothing returning run, id),
      described as (
        insert into ${runInfo} (run, procedure, ${infoColumns.names})
        select c.run, g.procedure, ${infoColumns.of('g')} from created c join given g on g.id = c.id),
      started as (
        insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
        select c.run, now, e.took_ms, e.seq, case when g.owner is null then 0 else 1 end, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
        from ${writeRows(eventColumns, firstEvent)} as e
        join given g on g.i = e.i join created c on c.id = g.id cross join clock)
      select id, run, now as at from created cross join clock`),
    find: new Statement(existing),
    // From an attempt with a lost reply. A row lock is a write: if a standby confirms commits, it confirms the found
    // row too.
    lock: new Statement(`${existing} for no key update of r`),
  }
}
