import {
  eventTypeCode,
  feedCode,
  operationKindCode,
  stateCode,
  type Unit,
  type Whole,
} from '@pawl/core/storage'
import { Statement } from '../connection/fast-path/statement.ts'
import { asBuffer, type Value } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'
import { equalsUnindexed } from '../schema/planner.ts'

/**
 * Statements that commit one unit with one event, the usual case of a single active run. Without lists they cost
 * half as much as a batch. Each updates the row of the run and, if the fence holds, writes the rest.
 */
export interface SingleStatements {
  /** The event. */
  readonly event: Statement
  /** The event and the message that it records. */
  readonly received: Statement
  /** The end of the run. */
  readonly ended: Statement
}

export function writeSingleStatements(names: Names): SingleStatements {
  const { messages, runInfo, news } = names
  const used = `,
    used as (
      update ${messages} m set used = true, payload = null from written w where m.run = w.run and m.n = $16)`
  const shown = `,
    shown as (
      update ${runInfo} f set info = coalesce($18, f.info), ended_at = i.at
      from written w cross join inserted i where f.run = w.run),
    told as (
      insert into ${news} (run, at, kind)
      select w.run, i.at, ${feedCode.numberOf['run-ended']} from written w cross join inserted i)`
  return {
    event: new Statement(writeSingle(names, {})),
    received: new Statement(writeSingle(names, { more: used })),
    ended: new Statement(
      writeSingle(names, {
        changes: ', state = $16, worker = null, wake_at = null',
        condition: 'and mail = $17',
        more: shown,
      }),
    ),
  }
}

interface Parts {
  /** Further changes in the row of the run. */
  readonly changes?: string
  readonly condition?: string
  /** Further parts of the one statement. */
  readonly more?: string
}

function writeSingle({ runs, events }: Names, { changes = '', condition = '', more = '' }: Parts): string {
  return `
    with written as (
      update ${runs} set head = head + 1, link = coalesce($5, link), tries = 0, mark = 0${changes}
      where run = $1 and epoch = $2 and head = $3 and ${equalsUnindexed('worker', '$4')} and state = 0 ${condition}
      returning run, mail),
    inserted as (
      insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
      select run, ${storeTime}, $14, $3, $2, $7, $8, $11, $6, $9, $12, $10, $13, coalesce($15, ''::bytea) from written
      returning at)${more}
    select 1 as i, 0 as verdict, mail, false as parked, at from written, inserted`
}

export interface Single {
  readonly statement: keyof SingleStatements
  readonly values: readonly Value[]
}

/** Returns the single-unit statement for the units; null if none applies. */
/** A unit with the fields that these statements write or check. */
type WholeUnit = Whole<
  Unit,
  'run' | 'epoch' | 'head' | 'events' | 'seals' | 'link' | 'seen' | 'strict' | 'next' | 'effects'
>

export function bindSingle(worker: number, units: readonly WholeUnit[]): Single | null {
  const [unit] = units
  if (unit === undefined || units.length > 1) return null
  const { events, next, strict, seen, effects } = unit
  if (events.length !== 1 || effects.length > 1) return null
  const [effect] = effects
  if (next.do === 'end') {
    if (!strict || (effect !== undefined && effect.do !== 'show')) return null
    const info = effect === undefined ? null : asBuffer(effect.info)
    const state = stateCode.numberOf[next.state]
    return { statement: 'ended', values: [...bindEvent(worker, unit), state, seen, info] }
  }
  if (next.do !== 'keep' || strict) return null
  if (effect === undefined) return { statement: 'event', values: bindEvent(worker, unit) }
  if (effect.do !== 'consume') return null
  return { statement: 'received', values: [...bindEvent(worker, unit), effect.n] }
}

function bindEvent(worker: number, { run, epoch, head, events, seals, link }: Unit): readonly Value[] {
  const [event] = events
  if (!event) throw new TypeError('A unit of this shape has an event.')
  const { type, position, turn, kind, name, nth, failed, tookMs, payload } = event
  const seal = seals[0] ?? null
  return [
    run,
    epoch,
    head,
    worker,
    link && asBuffer(link),
    eventTypeCode.numberOf[type],
    position,
    turn,
    kind === null ? null : operationKindCode.numberOf[kind],
    name,
    nth,
    failed,
    payload && asBuffer(payload),
    tookMs,
    seal && asBuffer(seal),
  ]
}
