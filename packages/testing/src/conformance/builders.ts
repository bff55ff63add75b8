import type {
  AskQuery,
  ChildRun,
  Effect,
  NewAnswer,
  NewAsk,
  NewCheckpoint,
  NewEvent,
  NewMessage,
  NewNotice,
  NewRun,
  OutgoingMessage,
  RunKey,
  RunQuery,
  Unit,
  WorkerKey,
} from '@pawl/core/storage'

/** Far enough in the future that no test gets there. */
export const later: number = 9_000_000_000_000
/** A time long past. */
export const longAgo: number = 1_000

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function text(payload: Uint8Array | null | undefined): string | null {
  return payload ? new TextDecoder().decode(payload) : null
}

/** Bytes to be compared: stores may return any kind of Uint8Array. */
export function hex(payload: Uint8Array | null | undefined): string | null {
  return payload ? Buffer.from(payload).toString('hex') : null
}

/** A hash-like value that differs for every number. */
export function link(number: number): Uint8Array {
  return new Uint8Array(32).fill(number)
}

export function started(overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    type: 'started',
    position: -1,
    turn: 0,
    kind: null,
    name: 'refund',
    nth: 0,
    failed: false,
    tookMs: null,
    payload: bytes('input'),
    ...overrides,
  }
}

export function settled(position: number, overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    type: 'settled',
    position,
    turn: position,
    kind: 'step',
    name: 'charge card',
    nth: 0,
    failed: false,
    tookMs: 12,
    payload: bytes(`result ${position}`),
    ...overrides,
  }
}

export function newRun(id: string, overrides: Partial<NewRun> = {}): NewRun {
  return {
    id,
    procedure: 'refund',
    version: 1,
    started: started(),
    link: link(1),
    worker: null,
    tags: [],
    startedBy: null,
    ...overrides,
  }
}

/** What a worker knows of a run: the basis of its next unit. */
export interface Standing {
  readonly run: RunKey
  readonly id: string
  readonly worker: WorkerKey
  epoch: number
  head: number
  seen: number
}

/** Effects of a unit by kind, a short form for tests. */
export interface EffectParts {
  readonly opens?: readonly NewAsk[]
  readonly closes?: readonly { readonly position: number; readonly status: 'timed-out' | 'withdrawn' }[]
  readonly consumes?: readonly number[]
  readonly info?: Uint8Array | null
  /** Where a generation begins. */
  readonly begins?: number
  readonly creates?: readonly ChildRun[]
  readonly sends?: readonly OutgoingMessage[]
  readonly replies?: readonly { readonly n: number; readonly payload: Uint8Array }[]
  readonly givesBack?: readonly { readonly n: number; readonly payload: Uint8Array }[]
  readonly checkpoints?: readonly NewCheckpoint[]
  readonly notices?: readonly NewNotice[]
  readonly states?: readonly { readonly name: string; readonly payload: Uint8Array | null }[]
}

/** Returns the effects of a unit in the order of the engine. */
export function effectsOf(parts: EffectParts): Effect[] {
  const { opens = [], closes = [], consumes = [], creates = [], sends = [], begins, info = null } = parts
  const { replies = [], givesBack = [], states = [], checkpoints = [], notices = [] } = parts
  return [
    ...opens.map((ask): Effect => ({ do: 'open-ask', ask })),
    ...closes.map((close): Effect => ({ do: 'close-ask', ...close })),
    ...consumes.map((n): Effect => ({ do: 'consume', n })),
    ...creates.map((run): Effect => ({ do: 'create-run', run })),
    ...sends.map((message): Effect => ({ do: 'send', message })),
    ...replies.map((reply): Effect => ({ do: 'reply', ...reply })),
    ...givesBack.map((message): Effect => ({ do: 'give-back', ...message })),
    ...checkpoints.map((checkpoint): Effect => ({ do: 'checkpoint', checkpoint })),
    ...notices.map((notice): Effect => ({ do: 'notify', notice })),
    ...states.map((state): Effect => ({ do: 'expose', ...state })),
    ...(begins === undefined ? [] : [{ do: 'begin-generation', base: begins } as const]),
    ...(info === null ? [] : [{ do: 'show', info } as const]),
  ]
}

/** Overrides of a unit, its effects by kind. */
export type UnitParts = Partial<Omit<Unit, 'effects'>> & EffectParts

export function unitFor(standing: Standing, parts: UnitParts = {}): Unit {
  const { run, epoch, head, seen } = standing
  const {
    opens,
    closes,
    consumes,
    creates,
    sends,
    begins,
    replies,
    givesBack,
    states,
    checkpoints,
    notices,
    info,
    ...overrides
  } = parts
  const events = overrides.events ?? [settled(head - 1)]
  return {
    run,
    epoch,
    head,
    events,
    seals: events.map(() => null),
    link: events.length > 0 ? link(head + events.length) : null,
    seen,
    strict: false,
    next: { do: 'keep' },
    effects: effectsOf(parts),
    ...overrides,
  }
}

export function newAsk(position: number, overrides: Partial<NewAsk> = {}): NewAsk {
  return {
    position,
    kind: 'approve',
    key: null,
    urgency: 1,
    to: ['team:finance'],
    escalateTo: [],
    dueAt: null,
    closesAt: null,
    payload: bytes(`question ${position}`),
    answered: null,
    ...overrides,
  }
}

export function signal(run: string, overrides: Partial<NewMessage> = {}): NewMessage {
  return {
    run,
    kind: 'signal',
    name: 'paid',
    key: null,
    by: 'user:sam',
    payload: bytes('by card'),
    ...overrides,
  }
}

/** A message that a unit leaves for another run. */
export function outgoing(run: string, overrides: Partial<OutgoingMessage> = {}): OutgoingMessage {
  const message = { run, kind: 'signal', name: 'paid', key: null, by: 'user:sam' } as const
  return { ...message, payload: bytes('by card'), must: true, ...overrides }
}

/** A run that a unit creates. */
export function childRun(id: string, parent: string, overrides: Partial<ChildRun> = {}): ChildRun {
  const { worker, ...run } = newRun(id)
  return { ...run, parent: { run: parent, position: 0 }, ...overrides }
}

export function answerTo(run: string, position: number, overrides: Partial<NewAnswer> = {}): NewAnswer {
  return { run, position, by: 'user:amy', payload: bytes('yes'), ...overrides }
}

export function allAsks(overrides: Partial<AskQuery> = {}): AskQuery {
  const everything = { run: null, procedure: null, kind: null, overdue: null, lapsed: null, to: null }
  return { status: 'open', ...everything, now: 50_000, after: null, limit: 100, ...overrides }
}

export function allRuns(overrides: Partial<RunQuery> = {}): RunQuery {
  return {
    procedure: null,
    statuses: [],
    tag: null,
    parent: null,
    failedUndo: false,
    before: null,
    limit: 100,
    ...overrides,
  }
}
