import {
  connectTo,
  type Effect,
  type NewAsk,
  type NewEvent,
  type NewRun,
  type Store,
  type StorePort,
  type Unit,
} from '@pawl/core/storage'

/** Opens a store. */
export async function open(store: Store): Promise<StorePort> {
  const port = connectTo(store)
  if (!port) throw new Error('The store was not made by defineStore.')
  await port.open()
  return port
}

export function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

export function newEvent(name: string, overrides: Partial<NewEvent> = {}): NewEvent {
  return {
    type: 'settled',
    position: 0,
    turn: 0,
    kind: 'step',
    name,
    nth: 0,
    failed: false,
    tookMs: 3,
    payload: bytes('result'),
    ...overrides,
  }
}

export function newRun(id: string, overrides: Partial<NewRun> = {}): NewRun {
  return {
    id,
    procedure: 'order',
    version: 1,
    started: newEvent('started', {
      type: 'started',
      position: -1,
      kind: null,
      payload: bytes(`input of ${id}`),
    }),
    link: new Uint8Array(32),
    worker: null,
    tags: [],
    startedBy: null,
    ...overrides,
  }
}

export function newAsk(position: number, overrides: Partial<NewAsk> = {}): NewAsk {
  return {
    position,
    kind: 'approve',
    key: null,
    urgency: 1,
    to: [],
    escalateTo: [],
    dueAt: null,
    closesAt: null,
    payload: bytes('?'),
    answered: null,
    ...overrides,
  }
}

/** What the owner of a run knows of it. */
export interface Standing {
  readonly run: number
  epoch: number
  head: number
  mail: number
}

/** What a unit may change beside its run, by kind: shorter to write than its effects. */
export interface UnitParts extends Partial<Omit<Unit, 'effects'>> {
  readonly opens?: readonly NewAsk[]
  readonly closes?: readonly { readonly position: number; readonly status: 'timed-out' | 'withdrawn' }[]
  readonly consumes?: readonly number[]
  readonly info?: Uint8Array
}

function effectsOf({ opens = [], closes = [], consumes = [], info }: UnitParts): Effect[] {
  return [
    ...opens.map((ask) => ({ do: 'open-ask', ask }) as const),
    ...closes.map((close) => ({ do: 'close-ask', ...close }) as const),
    ...consumes.map((n) => ({ do: 'consume', n }) as const),
    ...(info === undefined ? [] : [{ do: 'show', info } as const]),
  ]
}

export function newUnit({ run, epoch, head, mail }: Standing, parts: UnitParts = {}): Unit {
  const { opens, closes, consumes, info, ...overrides } = parts
  const events = overrides.events ?? [newEvent('step')]
  return {
    run,
    epoch,
    head,
    events,
    seals: events.map(() => null),
    link: events.length > 0 ? new Uint8Array(32) : null,
    seen: mail,
    strict: false,
    next: { do: 'keep' },
    effects: effectsOf(parts),
    ...overrides,
  }
}

/** Creates runs for a worker. */
export async function createOwned(
  port: StorePort,
  worker: number,
  ids: readonly string[],
): Promise<Standing[]> {
  const created = await port.runs.create(ids.map((id) => newRun(id, { worker })))
  return created.map(({ run }) => ({ run, epoch: 1, head: 1, mail: 0 }))
}

export const order: { readonly name: string; readonly versions: readonly number[] } = {
  name: 'order',
  versions: [1],
}

/** Calls `check` again and again until it is true. */
export async function until(check: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 5))
}
