import {
  askStatusCode,
  type Effect,
  type NewEvent,
  type RunKey,
  stateCode,
  type Unit,
  type UnitOutcome,
  unreachable,
  type WorkerKey,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { isTaken } from '../faults.ts'
import type { AskNames } from './ask-names.ts'
import { prepareAsks } from './asks.ts'
import type { CheckpointWrites } from './checkpoints.ts'
import { prepareInsertEvent } from './event.ts'
import type { FeedWrites } from './feed.ts'
import type { OtherRuns } from './others.ts'

/** Thrown if the `seq` or an ask of a unit exists although the fence held. The whole transaction is rolled back. */
export class Conflict extends Error {
  readonly index: number
  constructor(index: number, cause: unknown) {
    super(`Unit ${index} of the commit met an existing row.`, { cause })
    this.index = index
  }
}

/** Writes all units in the open transaction, except the units in `conflicts`. */
export type Commit = (
  worker: WorkerKey,
  units: readonly Unit[],
  conflicts: ReadonlySet<number>,
  at: number,
) => readonly UnitOutcome[]

// Every write of a run starts with this fence: it requires the same worker, epoch and head.
const write = 'update runs set head = ?, link = coalesce(?, link), mark = 0'
const advance = `${write}, tries = 0`
const fence = 'where run = ? and epoch = ? and head = ? and worker = ? and state = 0'
const upToDate = 'and mail = ?'

export function prepareCommit(
  database: Database,
  names: AskNames,
  feed: FeedWrites,
  others: OtherRuns,
  checkpoints: CheckpointWrites,
): Commit {
  const keep = database.prepare(`${advance} ${fence}`)
  // Without an event a kept run has made no progress: the deaths of its workers still count.
  const keepAsIs = database.prepare(`${write} ${fence}`)
  const keepAsIsUpToDate = database.prepare(`${write} ${fence} ${upToDate}`)
  // Nearly every unit has seen all messages. Its statement checks the counter, which saves a read.
  const keepUpToDate = database.prepare(`${advance} ${fence} ${upToDate}`)
  const park = database.prepare(`${advance}, worker = null, wake_at = ? ${fence} ${upToDate}`)
  const ending = 'state = ?, worker = null, wake_at = null'
  const end = database.prepare(`${advance}, ${ending} ${fence}`)
  const endUpToDate = database.prepare(`${advance}, ${ending} ${fence} ${upToDate}`)
  const readMail = database.prepare<[RunKey], number>('select mail from runs where run = ?').pluck()
  const readRow = database.prepare<[RunKey], FenceRow>(
    'select epoch, head, worker, mail, state from runs where run = ?',
  )
  const consume = database.prepare('update messages set used = 1, payload = null where run = ? and n = ?')
  const reply = database.prepare('update messages set used = 1, payload = ? where run = ? and n = ?')
  const expose = database.prepare(
    `insert into run_state (run, name, at, payload) values (?, ?, ?, ?)
     on conflict (run, name) do update set at = excluded.at, payload = excluded.payload`,
  )
  const saveBase = database.prepare('update runs set base = ? where run = ?')
  const saveInfo = database.prepare('update run_info set info = ? where run = ?')
  const saveEnd = database.prepare('update run_info set info = coalesce(?, info), ended_at = ? where run = ?')
  const insertEvent = prepareInsertEvent(database)
  const asks = prepareAsks(database, names, feed)

  /** Writes the unit to the run's row if the fence holds and no new message has arrived. */
  function advanceUpToDate(worker: WorkerKey, unit: Unit): boolean {
    const { run, epoch, head, events, link, seen, next } = unit
    const length = head + events.length
    const keeping = events.length > 0 ? keepUpToDate : keepAsIsUpToDate
    switch (next.do) {
      case 'keep':
        return keeping.run(length, link, run, epoch, head, worker, seen).changes === 1
      case 'park':
        return park.run(length, link, next.wakeAt, run, epoch, head, worker, seen).changes === 1
      case 'end': {
        const state = stateCode.numberOf[next.state]
        return endUpToDate.run(length, link, state, run, epoch, head, worker, seen).changes === 1
      }
    }
  }

  /** Writes a unit that new messages do not affect. A run with unseen messages is not parked. */
  function advanceBehind(worker: WorkerKey, unit: Unit): boolean {
    const { run, epoch, head, events, link, next } = unit
    const length = head + events.length
    const keeping = events.length > 0 ? keep : keepAsIs
    if (next.do !== 'end') return keeping.run(length, link, run, epoch, head, worker).changes === 1
    const state = stateCode.numberOf[next.state]
    return end.run(length, link, state, run, epoch, head, worker).changes === 1
  }

  function explainRefusal(worker: WorkerKey, unit: Unit): UnitOutcome {
    const row = readRow.get(unit.run)
    if (!row || row.epoch !== unit.epoch || row.worker !== worker || row.state !== 0)
      return { outcome: 'fenced' }
    if (row.head !== unit.head) return { outcome: 'conflict' }
    if (!Number.isSafeInteger(row.mail))
      return { outcome: 'conflict', why: `its message count is ${row.mail}, which is impossible` }
    return { outcome: 'mail', mail: row.mail }
  }

  /** Returns why the unit is not written: its own run comes first. */
  function explainOtherRun(worker: WorkerKey, unit: Unit, refusal: UnitOutcome): UnitOutcome {
    const own = explainRefusal(worker, unit)
    return own.outcome !== 'mail' || (unit.strict && own.mail !== unit.seen) ? own : refusal
  }

  function writeUnit(worker: WorkerKey, unit: Unit, at: number): UnitOutcome {
    const refusal = unit.effects.length === 0 ? undefined : others.findRefusal(unit.effects, at)
    if (refusal) return explainOtherRun(worker, unit, refusal)
    const isUpToDate = advanceUpToDate(worker, unit)
    if (!isUpToDate && (unit.strict || !advanceBehind(worker, unit))) return explainRefusal(worker, unit)
    const { run, epoch, head, events, seals, next, effects } = unit
    const mail = isUpToDate ? unit.seen : (readMail.get(run) as number)
    for (let index = 0; index < events.length; index++) {
      insertEvent(run, head + index, at, epoch, events[index] as NewEvent, seals[index] ?? null)
    }
    const isEnd = next.do === 'end'
    for (const effect of effects) if (!isEnd || effect.do !== 'show') apply(run, effect, at)
    if (isEnd) {
      saveEnd.run(effects.findLast((effect) => effect.do === 'show')?.info ?? null, at, run)
      feed.tell('run-ended', run, null, at)
    }
    return { outcome: 'ok', at, epoch, mail, parked: next.do === 'park' && isUpToDate }
  }

  function apply(run: RunKey, effect: Effect, at: number): void {
    switch (effect.do) {
      case 'open-ask':
        return asks.open(run, effect.ask, at)
      case 'close-ask':
        return asks.close(run, effect.position, askStatusCode.numberOf[effect.status], at)
      case 'consume':
        return void consume.run(run, effect.n)
      case 'create-run':
        return others.create(effect.run, at)
      case 'send':
        return others.send(effect.message, at)
      case 'reply':
        return void reply.run(effect.payload, run, effect.n)
      case 'expose':
        return void expose.run(run, effect.name, at, effect.payload)
      case 'checkpoint':
        return checkpoints.write(run, effect.checkpoint, at)
      case 'begin-generation':
        return void saveBase.run(effect.base, run)
      case 'show':
        return void saveInfo.run(effect.info, run)
      default:
        return unreachable(effect)
    }
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
