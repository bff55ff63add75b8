import {
  askStatusCode,
  type Effect,
  type NewEvent,
  type RunKey,
  type Unit,
  type UnitOutcome,
  unreachable,
  type Whole,
  type WorkerKey,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { isTaken } from '../faults.ts'
import type { AskNames } from './ask-names.ts'
import { type AskWrites, prepareAsks } from './asks.ts'
import type { CheckpointWrites } from './checkpoints.ts'
import { prepareInsertEvent } from './event.ts'
import type { FeedWrites } from './feed.ts'
import { prepareFence } from './fence.ts'
import type { NoticeWrites } from './notices.ts'
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

/** A unit with the fields that the fence, its events and its effects write. */
type WholeUnit = Whole<
  Unit,
  'run' | 'epoch' | 'head' | 'events' | 'seals' | 'link' | 'seen' | 'strict' | 'next' | 'effects'
>

export function prepareCommit(
  database: Database,
  names: AskNames,
  feed: FeedWrites,
  others: OtherRuns,
  checkpoints: CheckpointWrites,
  notices: () => NoticeWrites,
): Commit {
  const fence = prepareFence(database)
  const readMail = database.prepare<[RunKey], number>('select mail from runs where run = ?').pluck()
  const saveEnd = database.prepare('update run_info set info = coalesce(?, info), ended_at = ? where run = ?')
  const insertEvent = prepareInsertEvent(database)
  const apply = prepareEffects(database, prepareAsks(database, names, feed), others, checkpoints, notices)

  /** Returns why the unit is not written: its own run comes first. */
  function explainOtherRun(worker: WorkerKey, unit: Unit, refusal: UnitOutcome): UnitOutcome {
    const own = fence.explain(worker, unit)
    return own.outcome !== 'mail' || (unit.strict && own.mail !== unit.seen) ? own : refusal
  }

  function writeUnit(worker: WorkerKey, unit: WholeUnit, at: number): UnitOutcome {
    const refusal = unit.effects.length === 0 ? undefined : others.findRefusal(unit.effects, at)
    if (refusal) return explainOtherRun(worker, unit, refusal)
    const isUpToDate = fence.advanceUpToDate(worker, unit)
    if (!isUpToDate && (unit.strict || !fence.advanceBehind(worker, unit))) return fence.explain(worker, unit)
    const { run, epoch, head, events, seals, next, effects } = unit
    const mail = isUpToDate ? unit.seen : (readMail.get(run) as number)
    for (let index = 0; index < events.length; index++) {
      insertEvent(run, head + index, at, epoch, events[index] as NewEvent, seals[index] ?? null)
    }
    const isEnd = next.do === 'end'
    for (const effect of effects) if (!isEnd || effect.do !== 'show') apply(unit, effect, at)
    if (isEnd) {
      saveEnd.run(effects.findLast((effect) => effect.do === 'show')?.info ?? null, at, run)
      feed.tell('run-ended', run, null, at)
    }
    return { outcome: 'ok', at, epoch, mail, parked: next.do === 'park' && isUpToDate }
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

/** Writes what follows from the events of a unit. */
function prepareEffects(
  database: Database,
  asks: AskWrites,
  others: OtherRuns,
  checkpoints: CheckpointWrites,
  notices: () => NoticeWrites,
): (unit: Unit, effect: Effect, at: number) => void {
  const consume = database.prepare('update messages set used = 1, payload = null where run = ? and n = ?')
  const reply = database.prepare('update messages set used = 1, payload = ? where run = ? and n = ?')
  const giveBack = database.prepare('update messages set used = 0, payload = ? where run = ? and n = ?')
  const expose = database.prepare(
    `insert into run_state (run, name, at, seq, payload) values (?, ?, ?, ?, ?)
     on conflict (run, name) do update set at = excluded.at, seq = excluded.seq, payload = excluded.payload`,
  )
  const saveBase = database.prepare('update runs set base = ? where run = ?')
  const saveInfo = database.prepare('update run_info set info = ? where run = ?')

  return ({ run, head }, effect, at) => {
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
      case 'give-back':
        return void giveBack.run(effect.payload, run, effect.n)
      case 'expose':
        return void expose.run(run, effect.name, at, head, effect.payload)
      case 'checkpoint':
        return checkpoints.write(run, effect.checkpoint, at)
      case 'notify':
        return notices().write(run, effect.notice, head, at)
      case 'begin-generation':
        return void saveBase.run(effect.base, run)
      case 'show':
        return void saveInfo.run(effect.info, run)
      default:
        return unreachable(effect)
    }
  }
}
