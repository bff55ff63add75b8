import {
  type Answered,
  type Created,
  type Damaged,
  type Effect,
  type Message,
  type NewAnswer,
  type NewAsk,
  type NewEvent,
  type NewMessage,
  type NewRun,
  type Sent,
  stateCode,
  type Unit,
  type UnitOutcome,
  unreachable,
  type WorkerKey,
} from '@pawl/core/storage'
import { isAlive } from './ownership.ts'
import type { AskRecord, RunRecord, Tables } from './tables.ts'
import { showAsk } from './views.ts'

export function createRun(tables: Tables, given: NewRun, at: number): Created {
  const known = tables.runs.get(given.id)
  if (known) return { outcome: 'exists', run: known.run }
  const run: RunRecord = {
    run: tables.runs.size + 1,
    id: given.id,
    procedure: given.procedure,
    createdAt: at,
    tags: [...given.tags],
    startedBy: given.startedBy,
    events: [],
    messages: [],
    asks: new Map(),
    asksByKey: new Map(),
    version: given.version,
    worker: given.worker,
    wakeAt: null,
    epoch: 1,
    mail: 0,
    state: 'live',
    mark: 'none',
    tries: 0,
    positives: 0,
    alone: 0,
    isTested: false,
    link: copy(given.link),
    reason: null,
    cause: null,
    endedAt: null,
    info: null,
  }
  if (!isAlive(tables, given.worker)) {
    run.worker = null
    run.wakeAt = at
  }
  appendEvent(run, given.started, null, at, run.worker === null ? 0 : 1)
  tables.runs.set(run.id, run)
  tables.runsByKey.set(run.run, run)
  return { outcome: 'created', run: run.run, at }
}

export function commitUnit(tables: Tables, worker: WorkerKey, unit: Unit, at: number): UnitOutcome {
  const run = tables.runsByKey.get(unit.run)
  if (!run || run.epoch !== unit.epoch || run.worker !== worker) return { outcome: 'fenced' }
  if (run.events.length !== unit.head) return { outcome: 'conflict' }
  if (unit.strict && run.mail !== unit.seen) return { outcome: 'mail', mail: run.mail }
  if (isAnyTaken(run, opensOf(unit))) return { outcome: 'conflict' }

  for (const [index, event] of unit.events.entries()) appendEvent(run, event, unit.seals[index] ?? null, at)
  for (const effect of unit.effects) apply(tables, run, effect, at)
  if (unit.link) run.link = copy(unit.link)
  run.mark = 'none'
  run.tries = 0
  return { outcome: 'ok', at, epoch: run.epoch, mail: run.mail, parked: letGo(run, unit, at) }
}

function opensOf({ effects }: Unit): readonly NewAsk[] {
  return effects.flatMap((effect) => (effect.do === 'open-ask' ? effect.ask : []))
}

function apply(tables: Tables, run: RunRecord, effect: Effect, at: number): void {
  switch (effect.do) {
    case 'open-ask':
      return openAsk(tables, run, effect.ask, at)
    case 'close-ask': {
      const ask = run.asks.get(effect.position)
      if (ask?.status === 'open') Object.assign(ask, { status: effect.status, closedAt: at })
      return
    }
    case 'consume': {
      const message = run.messages[effect.n - 1]
      if (message) Object.assign(message, { isUsed: true, payload: null })
      return
    }
    case 'show':
      run.info = copy(effect.info)
      return
    default:
      unreachable(effect)
  }
}

/** What becomes of the run after its unit. Returns whether it was parked. */
function letGo(run: RunRecord, { next, seen }: Unit, at: number): boolean {
  if (next.do === 'keep' || (next.do === 'park' && run.mail !== seen)) return false
  run.worker = null
  if (next.do === 'park') {
    run.wakeAt = next.wakeAt
    return true
  }
  run.state = next.state
  run.endedAt = at
  return false
}

export function sendMessage(
  tables: Tables,
  { run: id, kind, name, key, payload }: NewMessage,
  at: number,
): Sent {
  const run = tables.runs.get(id)
  if (!run) return { outcome: 'missing' }
  if (key !== null && run.messages.some((message) => message.key === key)) {
    return { outcome: 'duplicate', run: run.run, message: null, claimed: null }
  }
  const damaged = findDamage(run)
  if (damaged) return damaged
  const asked = kind === 'early' ? run.asksByKey.get(name) : undefined
  if (asked) return { outcome: 'asked', position: asked.position }
  if (run.state !== 'live') return { outcome: 'ended', state: run.state }
  const message = leaveMessage(run, { at, kind, name, key, payload })
  return { outcome: 'stored', run: run.run, message, claimed: null }
}

export function giveAnswer(
  tables: Tables,
  { run: id, position, by, payload }: NewAnswer,
  at: number,
): Answered {
  const run = tables.runs.get(id)
  const ask = run?.asks.get(position)
  if (!run || !ask) return { outcome: 'missing' }
  const damaged = findDamage(run)
  if (damaged) return damaged
  const isOpen = run.state === 'live' && ask.status === 'open' && (ask.closesAt === null || at < ask.closesAt)
  if (!isOpen) return { outcome: 'closed', ask: showAsk(ask) }
  Object.assign(ask, { status: 'answered', closedAt: at, answeredBy: by, answer: copy(payload) })
  const message = leaveMessage(run, { at, kind: 'answer', name: String(position), key: null, payload })
  return { outcome: 'answered', run: run.run, message, claimed: null }
}

function appendEvent(
  run: RunRecord,
  event: NewEvent,
  link: Uint8Array | null,
  at: number,
  epoch = run.epoch,
): void {
  const { type, position, turn, kind, name, nth, failed, tookMs, payload } = event
  const bytes = { payload: copy(payload), link: copy(link) }
  run.events.push({
    seq: run.events.length,
    at,
    epoch,
    type,
    position,
    turn,
    kind,
    name,
    nth,
    failed,
    tookMs,
    ...bytes,
  })
}

/** Whether a test has spoiled the record: memory does not do so by itself. */
function findDamage({ state, mail, messages }: RunRecord): Damaged | undefined {
  if (!(state in stateCode.numberOf)) return { outcome: 'damaged', why: `its state is ${String(state)}` }
  if (mail === messages.length) return undefined
  return { outcome: 'damaged', why: `it counts ${mail} messages and has ${messages.length}` }
}

function leaveMessage(
  run: RunRecord,
  { key, ...message }: Omit<Message, 'n'> & { readonly key: string | null },
): Message {
  const n = ++run.mail
  run.messages.push({ ...message, key, n, isUsed: false, payload: copy(message.payload) })
  if (run.worker === null && run.mark === 'none') run.wakeAt = Math.min(run.wakeAt ?? message.at, message.at)
  return { ...message, n, payload: copy(message.payload) }
}

/** Whether two asks would have one position, or one key. */
function isAnyTaken({ asks, asksByKey }: RunRecord, opens: readonly NewAsk[]): boolean {
  const positions = new Set(opens.map(({ position }) => position))
  const keys = opens.flatMap(({ key }) => key ?? [])
  return (
    positions.size < opens.length ||
    new Set(keys).size < keys.length ||
    opens.some(({ position }) => asks.has(position)) ||
    keys.some((key) => asksByKey.has(key))
  )
}

function openAsk(tables: Tables, run: RunRecord, { answered, ...ask }: NewAsk, at: number): void {
  const record: AskRecord = {
    ...ask,
    run,
    payload: copy(ask.payload),
    openedAt: at,
    status: answered ? 'answered' : 'open',
    closedAt: answered ? answered.at : null,
    answeredBy: answered ? answered.by : null,
    answer: answered ? copy(answered.payload) : null,
  }
  tables.asks.push(record)
  run.asks.set(record.position, record)
  if (record.key !== null) run.asksByKey.set(record.key, record)
}

/** The caller may reuse its buffer. */
export function copy<B extends Uint8Array | null>(bytes: B): B {
  return (bytes && new Uint8Array(bytes)) as B
}
