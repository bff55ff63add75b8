import {
  askStatusCode,
  eventTypeCode,
  type NewEvent,
  operationKindCode,
  type RunKey,
  stateCode,
  type Unit,
  type UnitOutcome,
  type WorkerKey,
} from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'
import { isTaken } from '../connection/faults.ts'
import { checkInteger } from '../reads/integers.ts'
import { prepareAsks } from './asks.ts'

/** A unit whose seq or ask was taken although the fence held. The whole transaction has to go back because of it. */
export class Conflict extends Error {
  readonly index: number
  constructor(index: number, cause: unknown) {
    super(`Unit ${index} of the commit met a row that is already there.`, { cause })
    this.index = index
  }
}

/** Writes all units in the transaction that is open; those in `conflicts` are passed over. */
export type Commit = (
  worker: WorkerKey,
  units: readonly Unit[],
  conflicts: ReadonlySet<number>,
  at: number,
) => readonly UnitOutcome[]

/** Writes one event; `seq` and `epoch` are those of the run. */
export type InsertEvent = (
  run: RunKey,
  seq: number,
  at: number,
  epoch: number,
  event: NewEvent,
  link: Uint8Array | null,
) => void

// What every write of a run starts with. Nobody else's run, no other epoch, no other head: the fence.
const advance = 'update runs set head = ?, link = coalesce(?, link), mark = 0, tries = 0'
const fence = 'where run = ? and epoch = ? and head = ? and worker = ? and state = 0'
const fresh = 'and (? = 0 or mail = ?)'

export function prepareCommit(database: Database): Commit {
  const keep = database.prepare(`${advance} ${fence}`)
  const keepStrict = database.prepare(`${advance} ${fence} ${fresh}`)
  const park = database.prepare(
    `${advance}, worker = iif(mail = ?, null, worker), wake_at = iif(mail = ?, ?, wake_at) ${fence} ${fresh}`,
  )
  const end = database.prepare(`${advance}, state = ?, worker = null, wake_at = null ${fence} ${fresh}`)
  // Beside a plain update it costs half of what `returning` costs.
  const readMail = database.prepare<[RunKey], number>('select mail from runs where run = ?').pluck()
  const readRow = database.prepare<[RunKey], FenceRow>(
    'select epoch, head, worker, mail, state from runs where run = ?',
  )
  const consume = database.prepare('update messages set used = 1, payload = null where run = ? and n = ?')
  const saveInfo = database.prepare(
    'update run_info set info = coalesce(?, info), ended_at = coalesce(?, ended_at) where run = ?',
  )
  const insertEvent = prepareInsertEvent(database)
  const asks = prepareAsks(database)

  /** Writes the unit to the run's row, if the row is still what the unit was made for. */
  function advanceRun(worker: WorkerKey, unit: Unit): boolean {
    const { run, epoch, head, events, link, seen, strict, then } = unit
    const next = head + events.length
    const strictly = strict ? 1 : 0
    switch (then.do) {
      case 'keep':
        if (!strict) return keep.run(next, link, run, epoch, head, worker).changes === 1
        return keepStrict.run(next, link, run, epoch, head, worker, strictly, seen).changes === 1
      case 'park':
        return (
          park.run(next, link, seen, seen, then.wakeAt, run, epoch, head, worker, strictly, seen).changes ===
          1
        )
      case 'end': {
        const state = stateCode.numberOf[then.state]
        return end.run(next, link, state, run, epoch, head, worker, strictly, seen).changes === 1
      }
    }
  }

  function explainRefusal(worker: WorkerKey, unit: Unit): UnitOutcome {
    const row = readRow.get(unit.run)
    if (!row || row.epoch !== unit.epoch || row.worker !== worker || row.state !== 0)
      return { outcome: 'fenced' }
    if (row.head !== unit.head) return { outcome: 'conflict' }
    return { outcome: 'mail', mail: checkInteger(row.mail) }
  }

  function writeUnit(worker: WorkerKey, unit: Unit, at: number): UnitOutcome {
    if (!advanceRun(worker, unit)) return explainRefusal(worker, unit)
    const mail = readMail.get(unit.run) as number
    const { run, epoch, head, events, seals, then, opens, closes, consumes, info } = unit
    for (let index = 0; index < events.length; index++) {
      insertEvent(run, head + index, at, epoch, events[index] as NewEvent, seals[index] ?? null)
    }
    for (const ask of opens) asks.open(run, ask, at)
    for (const { position, status } of closes) asks.close(run, position, askStatusCode.numberOf[status], at)
    for (const n of consumes) consume.run(run, n)
    const endedAt = then.do === 'end' ? at : null
    if (info !== null || endedAt !== null) saveInfo.run(info, endedAt, run)
    return { outcome: 'ok', at, epoch, mail, parked: then.do === 'park' && mail === unit.seen }
  }

  return (worker, units, conflicts, at) =>
    units.map((unit, index) => {
      if (conflicts.has(index)) return { outcome: 'conflict' }
      try {
        return writeUnit(worker, unit, at)
      } catch (error) {
        throw isTaken(error) ? new Conflict(index, error) : error
      }
    })
}

interface FenceRow {
  readonly epoch: number
  readonly head: number
  readonly worker: number | null
  readonly mail: number
  readonly state: number
}

export function prepareInsertEvent(database: Database): InsertEvent {
  const insert = database.prepare(
    `insert into events (run, seq, at, epoch, type, position, turn, kind, nth, failed, took_ms, name, payload, link)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  return (run, seq, at, epoch, event, link) => {
    const { type, position, turn, kind, nth, failed, tookMs, name, payload } = event
    insert.run(
      run,
      seq,
      at,
      epoch,
      eventTypeCode.numberOf[type],
      position,
      turn,
      kind === null ? null : operationKindCode.numberOf[kind],
      nth,
      failed ? 1 : 0,
      tookMs,
      name,
      payload,
      link,
    )
  }
}
