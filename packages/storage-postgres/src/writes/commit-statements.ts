import {
  askStatusCode,
  type Effect,
  feedCode,
  type RefusedWhy,
  type Unit,
  unreachable,
} from '@pawl/core/storage'
import { listBytes, listIntegers, listSmallints } from '../connection/fast-path/lists.ts'
import { Statement } from '../connection/fast-path/statement.ts'
import type { Value } from '../connection/fast-path/values.ts'
import { type Names, storeTime } from '../names.ts'
import { unindexed } from '../schema/planner.ts'
import {
  AskColumns,
  askNames,
  askTypes,
  EventColumns,
  eventColumns,
  nameNames,
  nameTypes,
  numberParameters,
  writeRows,
} from './columns.ts'
import { answerColumns, askColumns, unitColumns } from './rows.ts'

/** Verdicts of the statements on a unit, by the numbers they return. `behind`: fenced by a row that is older. */
export const verdicts = ['ok', 'fenced', 'conflict', 'mail', 'behind', 'refused'] as const

/** Returned for the first unit, and for each unit that differs from its writer's view. */
export interface VerdictRow {
  /** Index of the unit, from 1. */
  readonly i: number
  readonly verdict: number
  readonly mail: number
  readonly parked: boolean
  readonly at: number
  /** Of a unit that another run does not allow. */
  readonly item?: number | null
  readonly why?: RefusedWhy | null
  /** The newest of the runs that the units have created. */
  readonly made?: number | null
}

/**
 * Commits many units. Locks the rows of all runs first, in order, and judges by the locked rows, because a row read
 * before the lock may be stale.
 */
export interface CommitStatements {
  /** Events and runs. */
  readonly slim: Statement
  /** With all that units change beside their runs. */
  readonly full: Statement
}

export function writeCommitStatements(names: Names): CommitStatements {
  return {
    slim: new Statement(writeBatch(names)),
    full: new Statement(writeFull(names)),
  }
}

const askCount = askTypes.split(', ').length

/** `$1` is the worker, `$2` … the units, then the events. */
export const firstEvent: number = 2 + unitColumns.count
const firstAsk = firstEvent + eventColumns.length
const firstName = firstAsk + askCount
const firstClose = firstName + nameTypes.split(', ').length
const firstConsume = firstClose + 3
const firstInfo = firstConsume + 2
/** What other runs get, in the widest statement. */
export const firstOther: number = firstInfo + 1

// The fence: this run, this worker, this epoch. A fenced worker may know more than the row shows.
export const judgement: string = `
  case when l.run is null or l.epoch <> u.epoch or l.worker is distinct from $1 or l.state <> 0
         then case when l.epoch < u.epoch or l.head < u.head then 4 else 1 end
       when l.head <> u.head then 2
       when u.strict and l.mail <> u.seen then 3
       else 0 end`

/** `more`: further parts of the one statement. */
function writeBatch({ runs, events }: Names, more = ''): string {
  return `
    with clock as materialized (select ${storeTime} as now),
    locked as materialized (
      select run, epoch, head, worker, mail, state from ${runs}
      where run = any($2::bigint[]) order by run for no key update),
    judged as materialized (
      select u.*, l.mail, ${judgement} as verdict, u.park and l.mail = u.seen as parks
      from ${writeRows(unitColumns.columns, 2, 'i')} as u
      left join locked l on l.run = u.run),
    written as (
      update ${runs} r
      set head = r.head + j.count, link = coalesce(j.link, r.link), mark = 0, state = j.state,
          -- Without an event a kept run has made no progress: the deaths of its workers still count.
          tries = case when j.count = 0 and not j.parks and j.state = 0 then r.tries else 0 end,
          worker = case when j.parks or j.state <> 0 then null else r.worker end,
          wake_at = case when j.parks then j.wake_at when j.state = 0 then r.wake_at end
      from judged j where r.run = j.run and j.verdict = 0),
    inserted as (
      insert into ${events} (run, at, took_ms, seq, epoch, position, turn, nth, type, kind, failed, name, payload, link)
      select j.run, (select now from clock), e.took_ms, e.seq, j.epoch, e.position, e.turn, e.nth, e.type, e.kind, e.failed, e.name, e.payload, coalesce(e.link, '')
      from ${writeRows(eventColumns, firstEvent)} as e
      join judged j on j.i = e.i and j.verdict = 0)${more}
    -- Of a unit that went as its writer has it nothing is to be told, but when it was: the first one tells for all.
    select i::int, verdict, mail, parks as parked, (select now from clock) as at from judged
    where i = 1 or verdict <> 0 or mail <> seen`
}

const { 'ask-opened': opened, 'ask-closed': closed } = feedCode.numberOf

function writeFull(names: Names): string {
  return writeBatch(names, writeEffects(names))
}

/** SQL: what the effects of units change beside their runs. `replaced`: what has to give way to the asks they open. */
export function writeEffects(names: Names, replaced = ''): string {
  const { runInfo, messages, asks, askTo, news } = names
  return `,
    opened as (
      insert into ${asks} (run, opened_at, closed_at, status, ${askColumns.names}, ${answerColumns.names})
      select j.run, now, coalesce(a.answered_at, case when a.status <> 0 then now end), a.status,
        ${askColumns.of('a')}, ${answerColumns.of('a')}
      from unnest(${numberParameters(firstAsk, askTypes)}) as a(${askNames})
      join judged j on j.i = a.i and j.verdict = 0 cross join clock${replaced}
      returning run, position, status),
    listed as (
      insert into ${askTo} (run, due, opened_at, closes_at, position, urgency, late, name)
      select j.run, coalesce(n.due_at, 9007199254740991), now, n.closes_at, n.position, n.urgency, n.late, n.name
      from unnest(${numberParameters(firstName, nameTypes)}) as n(${nameNames})
      join judged j on j.i = n.i and j.verdict = 0 cross join clock),
    closed as (
      update ${asks} s set status = c.status, closed_at = now
      from unnest(${numberParameters(firstClose, 'int[], int[], int2[]')}) as c(i, position, status)
      join judged j on j.i = c.i and j.verdict = 0 cross join clock
      where s.run = j.run and s.position = c.position and ${unindexed('s.status')} = 0
      returning s.run, s.position),
    unlisted as (
      delete from ${askTo} t
      using unnest(${numberParameters(firstClose, 'int[], int[], int2[]')}) as c(i, position, status)
      join judged j on j.i = c.i and j.verdict = 0
      where t.run = j.run and t.position = c.position),
    told as (
      insert into ${news} (run, at, position, kind)
      select run, now, position, case when status = ${askStatusCode.numberOf.open} then ${opened} else ${closed} end
      from opened cross join clock
      union all select run, now, position, ${closed} from closed cross join clock
      union all select run, now, null, ${feedCode.numberOf['run-ended']} from judged cross join clock
      where verdict = 0 and state <> 0),
    used as (
      update ${messages} m set used = true, payload = null
      from unnest(${numberParameters(firstConsume, 'int[], int[]')}) as c(i, n)
      join judged j on j.i = c.i and j.verdict = 0
      where m.run = j.run and m.n = c.n),
    shown as (
      update ${runInfo} f
      set info = coalesce(s.info, f.info), ended_at = case when j.state <> 0 then now else f.ended_at end
      from unnest($${firstInfo}::bytea[]) with ordinality as s(info, i)
      join judged j on j.i = s.i and j.verdict = 0 and (j.state <> 0 or s.info is not null) cross join clock
      where f.run = j.run)`
}

/** Whether only the widest statement writes an effect. */
const isWideEffect: { readonly [Kind in Effect['do']]: boolean } = {
  'open-ask': false,
  'close-ask': false,
  consume: false,
  show: false,
  'create-run': true,
  send: true,
  reply: true,
  'give-back': true,
  expose: true,
  checkpoint: true,
  notify: true,
  'begin-generation': true,
}

/**
 * Whether the widest statement has to write the unit: it changes another run, replies to an update or gives one back, exposes a
 * value, writes a checkpoint or a notice, begins a generation, or asks again what an earlier generation has asked.
 */
export function isWide({ effects }: Unit): boolean {
  return effects.some(
    (effect) => isWideEffect[effect.do] || (effect.do === 'open-ask' && effect.ask.replaces === true),
  )
}

/** Returns whether the unit writes only its events and its run. */
export function isPlain({ next, effects }: Unit): boolean {
  return effects.length === 0 && next.do !== 'end'
}

export function bindSlim(worker: number, units: readonly Unit[]): readonly Value[] {
  const events = new EventColumns()
  for (const [index, unit] of units.entries()) {
    for (const [k, event] of unit.events.entries())
      events.add(index + 1, unit.head + k, event, unit.seals[k] ?? null)
  }
  return [worker, ...unitColumns.lists(units), ...events.values()]
}

export function bindFull(worker: number, units: readonly Unit[]): readonly Value[] {
  const effects = new EffectColumns(units.length)
  for (const [index, unit] of units.entries())
    for (const effect of unit.effects) effects.add(index + 1, effect)
  return [...bindSlim(worker, units), ...effects.values()]
}

/** Collects the effects of several units as the lists of the full statement. */
class EffectColumns {
  readonly #asks = new AskColumns()
  readonly #closes: [i: number, position: number, status: number][] = []
  readonly #consumes: [i: number, n: number][] = []
  readonly #info: (Uint8Array | null)[]

  constructor(units: number) {
    this.#info = new Array(units).fill(null)
  }

  /** `i`: index of the unit, from 1. */
  add(i: number, effect: Effect): void {
    switch (effect.do) {
      case 'open-ask':
        this.#asks.add(i, effect.ask)
        return
      case 'close-ask':
        // The statement's update does not see asks that its insert opens.
        if (!this.#asks.close(i, effect.position, effect.status))
          this.#closes.push([i, effect.position, askStatusCode.numberOf[effect.status]])
        return
      case 'consume':
        this.#consumes.push([i, effect.n])
        return
      case 'show':
        this.#info[i - 1] = effect.info
        return
      // The widest statement binds these.
      case 'create-run':
      case 'send':
      case 'reply':
      case 'give-back':
      case 'expose':
      case 'checkpoint':
      case 'notify':
      case 'begin-generation':
        return
      default:
        unreachable(effect)
    }
  }

  values(): readonly Value[] {
    return [
      ...this.#asks.values(),
      ...this.#asks.names(),
      listIntegers(this.#closes.map(([i]) => i)),
      listIntegers(this.#closes.map(([, position]) => position)),
      listSmallints(this.#closes.map(([, , status]) => status)),
      listIntegers(this.#consumes.map(([i]) => i)),
      listIntegers(this.#consumes.map(([, n]) => n)),
      listBytes(this.#info),
    ]
  }
}
