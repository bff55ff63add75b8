import {
  type Effect,
  type KeptAnswer,
  type NewAsk,
  type Unit,
  type UnitOutcome,
  unreachable,
  type Whole,
  type WorkerKey,
} from '@pawl/core/storage'
import { tell } from '../feed.ts'
import { notify } from '../notices.ts'
import { type AskRecord, copy, headOf, type RunRecord, type Tables } from '../tables.ts'
import { keepAnswer } from './answer.ts'
import { putCheckpoint } from './checkpoints.ts'
import { appendEvent } from './event.ts'
import { createChild, findRefusal, sendOut } from './others.ts'

/** A unit with the fields that are written here. */
type WholeUnit = Whole<
  Unit,
  'run' | 'epoch' | 'head' | 'events' | 'seals' | 'link' | 'seen' | 'strict' | 'next' | 'effects'
>

export function commitUnit(tables: Tables, worker: WorkerKey, unit: WholeUnit, at: number): UnitOutcome {
  const run = tables.runsByKey.get(unit.run)
  if (!run || run.epoch !== unit.epoch || run.worker !== worker) return { outcome: 'fenced' }
  if (headOf(run) !== unit.head) return { outcome: 'conflict' }
  if (unit.strict && run.mail !== unit.seen) return { outcome: 'mail', mail: run.mail }
  const refusal = findRefusal(tables, unit, at)
  if (refusal) return refusal
  if (isAnyTaken(run, opensOf(unit))) return { outcome: 'conflict' }

  for (const [index, event] of unit.events.entries()) appendEvent(run, event, unit.seals[index] ?? null, at)
  for (const effect of unit.effects) apply(tables, run, effect, { at, head: unit.head })
  if (unit.link) run.link = copy(unit.link)
  run.mark = 'none'
  const parked = letGo(tables, run, unit, at)
  // Without an event a kept run has made no progress: the deaths of its workers still count.
  if (unit.events.length > 0 || parked || unit.next.do === 'end') run.tries = 0
  return { outcome: 'ok', at, epoch: run.epoch, mail: run.mail, parked }
}

function opensOf({ effects }: Unit): readonly NewAsk[] {
  return effects.flatMap((effect) => (effect.do === 'open-ask' ? effect.ask : []))
}

/** `head`: the number of events before the unit. */
function apply(
  tables: Tables,
  run: RunRecord,
  effect: Effect,
  { at, head }: { readonly at: number; readonly head: number },
): void {
  switch (effect.do) {
    case 'open-ask':
      return openAsk(tables, run, effect.ask, at)
    case 'close-ask': {
      const ask = run.asks.get(effect.position)
      if (ask?.status !== 'open') return
      Object.assign(ask, { status: effect.status, closedAt: at })
      return tell(tables, 'ask-closed', run, effect.position, at)
    }
    case 'consume': {
      const message = run.messages.find(({ n }) => n === effect.n)
      if (message) Object.assign(message, { isUsed: true, payload: null })
      return
    }
    case 'create-run':
      return createChild(tables, effect.run, at)
    case 'send':
      return sendOut(tables, effect.message, at)
    case 'reply': {
      const message = run.messages.find(({ n }) => n === effect.n)
      if (message) Object.assign(message, { isUsed: true, payload: copy(effect.payload) })
      return
    }
    case 'give-back': {
      const message = run.messages.find(({ n }) => n === effect.n)
      if (message) Object.assign(message, { isUsed: false, payload: copy(effect.payload) })
      return
    }
    case 'expose': {
      const { name, payload } = effect
      run.states.set(name, { name, at, seq: head, payload: copy(payload) })
      return
    }
    case 'checkpoint':
      return putCheckpoint(tables, run, effect.checkpoint, null, at)
    case 'notify':
      return notify(tables, run, effect.notice, head, at)
    case 'begin-generation':
      run.base = effect.base
      return
    case 'show':
      run.info = copy(effect.info)
      return
    default:
      unreachable(effect)
  }
}

const unanswered: KeptAnswer = { answeredBy: null, answer: null }

function openAsk(tables: Tables, run: RunRecord, ask: NewAsk, at: number): void {
  if (ask.replaces === true) giveWay(tables, run, ask)
  const { position, kind, key, urgency, to, escalateTo, dueAt, closesAt, payload, answered } = ask
  const record: AskRecord = {
    ...{ run, position, kind, key, urgency, to, escalateTo, dueAt, closesAt, payload: copy(payload) },
    ...{ status: answered ? 'answered' : 'open', openedAt: at, closedAt: answered?.at ?? null },
    ...(answered === null ? unanswered : keepAnswer(answered)),
  }
  tables.asks.push(record)
  run.asks.set(record.position, record)
  if (record.key !== null) run.asksByKey.set(record.key, record)
  tell(tables, answered ? 'ask-closed' : 'ask-opened', run, record.position, at)
}

/** Makes room for an ask that replaces those of an earlier generation. */
function giveWay(
  tables: Tables,
  { asks, asksByKey }: RunRecord,
  { position, key }: Pick<NewAsk, 'position' | 'key'>,
): void {
  const before = asks.get(position)
  if (before !== undefined) {
    tables.asks.splice(tables.asks.indexOf(before), 1)
    asks.delete(position)
    if (before.key !== null) asksByKey.delete(before.key)
  }
  const sameKey = key === null ? undefined : asksByKey.get(key)
  if (sameKey !== undefined) sameKey.key = null
}

/** Returns whether a new ask would share its position or its key with an ask that does not give way. */
function isAnyTaken({ asks, asksByKey }: RunRecord, opens: readonly NewAsk[]): boolean {
  const isInTheWay = (ask: AskRecord | undefined, { replaces = false }: NewAsk): boolean =>
    ask !== undefined && (!replaces || ask.status === 'open')
  const positions = new Set(opens.map(({ position }) => position))
  const keys = opens.flatMap(({ key }) => key ?? [])
  return (
    positions.size < opens.length ||
    new Set(keys).size < keys.length ||
    opens.some((ask) => isInTheWay(asks.get(ask.position), ask)) ||
    opens.some((ask) => ask.key !== null && isInTheWay(asksByKey.get(ask.key), ask))
  )
}

/** Applies the `next` of a unit to its run. Returns whether the run was parked. */
function letGo(tables: Tables, run: RunRecord, { next, seen }: Unit, at: number): boolean {
  if (next.do === 'keep' || (next.do === 'park' && run.mail !== seen)) return false
  run.worker = null
  if (next.do === 'park') {
    run.wakeAt = next.wakeAt
    return true
  }
  run.state = next.state
  run.wakeAt = null
  run.endedAt = at
  tell(tables, 'run-ended', run, null, at)
  return false
}
