import { hiddenState, messageKindCode, type NewGeneration, staleKinds, stateCode } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import {
  listBigints,
  listBooleans,
  listBytes,
  listIntegers,
  listTexts,
  writeLiteral,
} from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer, type Value } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'
import { describeColumns, EventColumns, eventColumns, numberParameters, writeRows } from './columns.ts'
import type { Column } from './row-columns.ts'
import { messageColumns } from './rows.ts'

/** Begins new generations of runs that have ended. False: one is live or removed, or its log has another head. */
export type Restart = (generations: readonly NewGeneration[]) => Promise<boolean>

export function prepareRestart(database: Database): Restart {
  const { restart, find } = writeStatements(database.names)
  return (generations) =>
    database.repeat(async (isRepeated) => {
      const [first] = generations
      if (first === undefined) return true
      const rows = await database.run(restart, bindGenerations(generations))
      if (rows.length > 0 || !isRepeated) return rows.length > 0
      // From an attempt with a lost reply: it alone writes this event behind this head.
      const { run, head, started } = first
      const payload = started.payload === null ? null : asBuffer(started.payload)
      return (await database.run(find, [run, head, payload])).length > 0
    })
}

const generationColumns: readonly Column[] = describeColumns(
  'run bigint, head int, version int?, link bytea?, started_by text?, tags text?, info bytea?, cancel_at bigint?, events int, keeps bool, signals int, exposed_until bigint',
)
const signalTypes = `int[], int[], ${messageColumns.types}`
const checkpointTypes = 'bigint[], int[]'
const firstSignal = 1 + generationColumns.length
const firstCheckpoint = firstSignal + signalTypes.split(', ').length
const firstEvent = firstCheckpoint + checkpointTypes.split(', ').length

function bindGenerations(generations: readonly NewGeneration[]): readonly Value[] {
  const events = new EventColumns()
  const times: (number | null)[] = []
  for (const [index, { head, started, kept }] of generations.entries()) {
    events.add(index + 1, head, started, null)
    times.push(kept?.startedAt ?? null)
    for (const event of kept?.events ?? []) {
      events.add(index + 1, event.seq, event, event.link)
      times.push(event.at)
    }
  }
  const signals = generations.flatMap(({ kept }, index) =>
    (kept?.signals ?? []).map((signal, k) => {
      const message = { ...signal, kind: 'signal', key: null } as const
      return { ...message, i: index + 1, k: k + 1 }
    }),
  )
  const checkpoints = generations.flatMap(({ kept }) => kept?.checkpoints ?? [])
  return [
    listBigints(generations.map(({ run }) => run)),
    listIntegers(generations.map(({ head }) => head)),
    listIntegers(generations.map(({ version }) => version)),
    listBytes(generations.map(({ link }) => link)),
    listTexts(generations.map(({ startedBy }) => startedBy)),
    listTexts(generations.map(({ tags }) => writeLiteral(tags))),
    listBytes(generations.map(({ info }) => info)),
    listBigints(generations.map(({ kept }) => kept?.cancelAt ?? null)),
    listIntegers(generations.map(({ kept }) => kept?.events.length ?? 0)),
    listBooleans(generations.map(({ kept }) => kept !== null)),
    listIntegers(generations.map(({ kept }) => kept?.signals.length ?? 0)),
    listBigints(generations.map(({ kept }) => kept?.exposedUntil ?? -1)),
    listIntegers(signals.map(({ i }) => i)),
    listIntegers(signals.map(({ k }) => k)),
    ...messageColumns.lists(signals),
    listBigints(checkpoints.map(({ n }) => n)),
    listIntegers(checkpoints.map(({ seq }) => seq)),
    ...events.values(),
    listBigints(times),
  ]
}

function writeStatements({
  runs,
  runInfo,
  runState,
  checkpoints,
  events,
  messages,
}: Names): Record<'restart' | 'find', Statement> {
  const { live } = stateCode.numberOf
  const stale = staleKinds.map((kind) => messageKindCode.numberOf[kind]).join(', ')
  return {
    // Locks the rows of all runs first, in order, and judges by the locked rows: all have to fit, or none is written.
    restart: new Statement(`
      with locked as materialized (
        select run, head, base, state from ${runs} where run = any($1::bigint[]) order by run for no key update),
      fits as materialized (
        select g.*, l.base as before from ${writeRows(generationColumns, 1, 'i')} as g
        join locked l on l.run = g.run and l.head = g.head and l.state not in (${live}, ${hiddenState})),
      begun as (
        update ${runs} r set state = ${live}, mark = 0, tries = 0, worker = null, wake_at = ${storeTime}, epoch = r.epoch + 1,
          head = f.head + 1 + f.events, base = f.head, link = f.link, version = f.version, cancel_at = f.cancel_at,
          mail = r.mail + f.signals
        from fits f where r.run = f.run and (select count(*) from fits) = cardinality($1::bigint[])
        returning r.run, r.epoch, r.wake_at as at, r.mail, f.i, f.started_by, f.tags, f.info, f.keeps, f.signals, f.exposed_until, f.before),
      inserted as (
        insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
        select b.run, coalesce(e.at, b.at), e.took_ms, e.seq, b.epoch, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
        from begun b join ${writeRows([...eventColumns, ...describeColumns('at bigint?')], firstEvent)} as e on e.i = b.i),
      dropped as (
        update ${messages} m set used = true, payload = null, key = null
        from begun b where m.run = b.run and (not b.keeps or m.kind in (${stale}))
          and (not m.used or m.key is not null or m.payload is not null)),
      sent as (
        insert into ${messages} (run, n, at, ${messageColumns.names})
        select b.run, b.mail - b.signals + s.k, b.at, ${messageColumns.of('s')}
        from begun b join unnest(${numberParameters(firstSignal, signalTypes)}) as s(i, k, ${messageColumns.names})
          on s.i = b.i),
      removed as (
        delete from ${runState} s using begun b where s.run = b.run and (s.at > b.exposed_until or s.seq > b.before)),
      unsaved as (delete from ${checkpoints} c using begun b where c.run = b.run and c.n <> all($${firstCheckpoint}::bigint[])),
      moved as (
        update ${checkpoints} c set seq = k.seq
        from begun b cross join unnest(${numberParameters(firstCheckpoint, checkpointTypes)}) as k(n, seq)
        where c.run = b.run and c.n = k.n and k.seq is not null)
      update ${runInfo} f set ended_at = null, started_by = b.started_by, tags = b.tags::text[], info = b.info,
        parent = case when b.keeps then f.parent end, parent_position = case when b.keeps then f.parent_position end
      from begun b where f.run = b.run returning f.run`),
    find: new Statement(
      `select from ${events} e join ${runs} r on r.run = e.run where e.run = $1 and e.seq = $2 and e.payload = $3 for no key update of r`,
    ),
  }
}
