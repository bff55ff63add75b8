import type { NewGeneration } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { listTexts } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'
import { EventColumns, eventColumns, writeRows } from './columns.ts'

/** Begins a new generation of a run that has ended. False: it is live, or its log has another head. */
export type Restart = (generation: NewGeneration) => Promise<boolean>

export function prepareRestart(database: Database): Restart {
  const { restart, find } = writeStatements(database.names)
  return ({ run, head, version, started, link, tags, startedBy, info }) =>
    database.repeat(async (isRepeated) => {
      const events = new EventColumns()
      events.add(1, head, started, null)
      const values = [run, head, version, asBuffer(link), startedBy, listTexts(tags), asBuffer(info)]
      const rows = await database.run(restart, [...values, ...events.values()])
      if (rows.length > 0 || !isRepeated) return rows.length > 0
      // From an attempt with a lost reply: every first event has a unique seed.
      const payload = started.payload === null ? null : asBuffer(started.payload)
      return (await database.run(find, [run, head, payload])).length > 0
    })
}

function writeStatements({
  runs,
  runInfo,
  runState,
  checkpoints,
  events,
  messages,
}: Names): Record<'restart' | 'find', Statement> {
  return {
    restart: new Statement(`
      with begun as (
        update ${runs} set state = 0, mark = 0, tries = 0, worker = null, wake_at = ${storeTime}, epoch = epoch + 1,
          head = $2::int + 1, base = $2::int, link = $4, version = $3::int, cancel_at = null
        where run = $1 and head = $2::int and state <> 0 returning run, epoch, wake_at as at),
      inserted as (
        insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
        select b.run, b.at, e.took_ms, e.seq, b.epoch, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
        from begun b cross join ${writeRows(eventColumns, 8)} as e),
      dropped as (
        update ${messages} m set used = true, payload = null, key = null
        from begun b where m.run = b.run and (not m.used or m.key is not null or m.payload is not null)),
      removed as (delete from ${runState} s using begun b where s.run = b.run),
      unsaved as (delete from ${checkpoints} c using begun b where c.run = b.run)
      update ${runInfo} f set ended_at = null, started_by = $5, tags = $6::text[], parent = null, parent_position = null, info = $7
      from begun b where f.run = b.run returning f.run`),
    find: new Statement(
      `select from ${events} e join ${runs} r on r.run = e.run where e.run = $1 and e.seq = $2 and e.payload = $3 for no key update of r`,
    ),
  }
}
