import type { NewEvent, NewRun, RunKey, StorePort, Unit, WorkerKey } from '@pawl/core/storage'

/** What a worker's next unit is based on. */
export interface Standing {
  readonly run: RunKey
  readonly worker: WorkerKey
  readonly epoch: number
  readonly head: number
}

const hash = new Uint8Array(32).fill(7)

export function event(
  position: number,
  payload: Uint8Array | null = new Uint8Array(30),
  name = 'charge card',
): NewEvent {
  return {
    type: 'settled',
    position,
    turn: position,
    kind: 'step',
    name,
    nth: 0,
    failed: false,
    tookMs: 12,
    payload,
  }
}

export function run(id: string, worker: WorkerKey | null = null): NewRun {
  const started: NewEvent = { ...event(-1), type: 'started', kind: null, name: 'refund', tookMs: null }
  return { id, procedure: 'refund', version: 1, started, link: hash, worker, tags: [], startedBy: null }
}

export const refund = [{ name: 'refund', versions: [1] }]

/** A worker, and a run that it owns. */
export async function ownedRun(store: StorePort, id: string, leaseMs = 60_000): Promise<Standing> {
  const worker = await store.workers.register({ name: 'test', leaseMs })
  const [created] = await store.runs.create([run(id, worker)])
  if (created?.outcome !== 'created') throw new Error(`${id} is taken`)
  return { run: created.run, worker, epoch: 1, head: 1 }
}

/** A unit that appends one event. */
export function step({ run, epoch, head }: Standing, payload?: Uint8Array): Unit {
  return {
    run,
    epoch,
    head,
    events: [event(head - 1, payload)],
    seals: [null],
    link: hash,
    seen: 0,
    strict: false,
    next: { do: 'keep' },
    effects: [],
  }
}
