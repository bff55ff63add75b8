import { messageKindCode, type NewGeneration, staleKinds } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listBigints, listBytes, listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer, type Value } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'
import { describeColumns, EventColumns, eventColumns, writeRows } from './columns.ts'

/** Begins a new generation of a run that has ended. False: it is live, or its log has another head. */
export type Restart = (generation: NewGeneration) => Promise<boolean>

export function prepareRestart(database: Database): Restart {
  const { restart, find } = writeStatements(database.names)
  return (generation) =>
    database.repeat(async (isRepeated) => {
      const { run, head, started } = generation
      const rows = await database.run(restart, bindGeneration(generation))
      if (rows.length > 0 || !isRepeated) return rows.length > 0
      // From an attempt with a lost reply: it alone writes this event behind this head.
      const payload = started.payload === null ? null : asBuffer(started.payload)
      return (await database.run(find, [run, head, payload])).length > 0
    })
}

function bindGeneration(generation: NewGeneration): readonly Value[] {
  const { run, head, version, started, link, tags, startedBy, info, kept } = generation
  const { startedAt = null, events = [], cancelAt = null, signals = [], checkpoints = [] } = kept ?? {}
  const exposedUntil = kept?.exposedUntil ?? -1
  const columns = new EventColumns()
  columns.add(1, head, started, null)
  for (const event of events) columns.add(1, event.seq, event, event.link)
  return [
    ...[run, head, version, asBuffer(link), startedBy, listTexts(tags), asBuffer(info)],
    ...[cancelAt, events.length, kept !== null],
    listTexts(signals.map(({ name }) => name)),
    listBytes(signals.map(({ payload }) => payload)),
    listBigints(checkpoints.map(({ n }) => n)),
    listBigints(checkpoints.map(({ seq }) => seq)),
    exposedUntil,
    ...columns.values(),
    listBigints([startedAt, ...events.map(({ at }) => at)]),
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
  const stale = staleKinds.map((kind) => messageKindCode.numberOf[kind]).join(', ')
  return {
    restart: new Statement(`
      with begun as (
        update ${runs} set state = 0, mark = 0, tries = 0, worker = null, wake_at = ${storeTime}, epoch = epoch + 1,
          head = $2::int + 1 + $9::int, base = $2::int, link = $4, version = $3::int, cancel_at = $8::bigint,
          mail = mail + cardinality($11::text[])
        where run = $1 and head = $2::int and state <> 0 returning run, epoch, wake_at as at, mail),
      inserted as (
        insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
        select b.run, coalesce(e.at, b.at), e.took_ms, e.seq, b.epoch, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
        from begun b cross join ${writeRows([...eventColumns, ...describeColumns('at bigint?')], 16)} as e),
      dropped as (
        update ${messages} m set used = true, payload = null, key = null
        from begun b where m.run = b.run and (not $10::bool or m.kind in (${stale}))
          and (not m.used or m.key is not null or m.payload is not null)),
      sent as (
        insert into ${messages} (run, n, at, kind, used, name, payload)
        select b.run, b.mail - cardinality($11::text[]) + s.i, b.at, ${messageKindCode.numberOf.signal}, false, s.name, s.payload
        from begun b cross join unnest($11::text[], $12::bytea[]) with ordinality as s(name, payload, i)),
      removed as (delete from ${runState} s using begun b where s.run = b.run and s.at > $15::bigint),
      unsaved as (delete from ${checkpoints} c using begun b where c.run = b.run and c.n <> all($13::bigint[])),
      moved as (
        update ${checkpoints} c set seq = k.seq::int
        from begun b cross join unnest($13::bigint[], $14::bigint[]) as k(n, seq) where c.run = b.run and c.n = k.n and k.seq is not null)
      update ${runInfo} f set ended_at = null, started_by = $5, tags = $6::text[], info = $7,
        parent = case when $10::bool then f.parent end, parent_position = case when $10::bool then f.parent_position end
      from begun b where f.run = b.run returning f.run`),
    find: new Statement(
      `select from ${events} e join ${runs} r on r.run = e.run where e.run = $1 and e.seq = $2 and e.payload = $3 for no key update of r`,
    ),
  }
}
