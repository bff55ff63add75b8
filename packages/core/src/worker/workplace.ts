import { type Schema, validate, type Validation } from '../base/schema.ts'
import { LogHash } from '../events/seal.ts'
import type { Message, RunKey } from '../ports/store.ts'
import type { Activity, Draft, StepResult, Workplace } from './activities/activity.ts'
import { LogReader } from './log-reader.ts'
import { type RecentSteps, recentKept, stepResultOf } from './recent-steps.ts'
import type { RunHost } from './run-host.ts'

/** The parts of a run its activities depend on. */
export interface WorkplaceParts {
  host(): RunHost
  seed(): Uint8Array
  unread(): readonly Message[]
  steps(): RecentSteps
  head(): number
  signals(): ReadonlyMap<string, Schema> | undefined
  record(draft: Draft): void
  retract(activity: Activity): void
  lookAgain(): void
}

export function createWorkplace(run: { readonly id: string; readonly key: RunKey }, parts: WorkplaceParts): Workplace {
  return {
    get runId() {
      return run.id
    },
    get clock() {
      return parts.host().clock
    },
    get entropy() {
      return parts.host().entropy
    },
    get slots() {
      return parts.host().slots
    },
    get logger() {
      return parts.host().logger
    },
    get escalateTo() {
      return parts.host().escalateTo
    },
    get unread() {
      return parts.unread()
    },
    now: () => parts.host().time.now(),
    record: parts.record,
    retract: parts.retract,
    lookAgain: parts.lookAgain,
    idempotencyKey: (position) => idempotencyKey(parts, position),
    checkSignal: (name, payload) => checkSignal(parts.signals()?.get(name), payload),
    history: {
      last: (count) => (count <= recentKept ? parts.steps().last(count) : readSteps(run.key, parts).then((steps) => steps.slice(-count))),
      named: (names) => readSteps(run.key, parts).then((steps) => steps.filter(({ name }) => names.includes(name))),
    },
  }
}

/** From the run's seed, not its id: the same id in two databases, or used again, must not give the same key. */
function idempotencyKey(parts: WorkplaceParts, position: number): string {
  const { sha256 } = parts.host()
  const seeded = new Uint8Array(parts.seed().length + 4)
  seeded.set(parts.seed())
  new DataView(seeded.buffer).setUint32(parts.seed().length, position)
  return [...sha256(seeded).subarray(0, 16)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

function checkSignal(schema: Schema | undefined, payload: unknown): Validation | Promise<Validation> {
  return schema === undefined ? { ok: true, value: payload } : validate(schema, payload)
}

async function readSteps(run: RunKey, parts: WorkplaceParts): Promise<readonly StepResult[]> {
  const { store, sha256 } = parts.host()
  const steps: StepResult[] = []
  for await (const page of new LogReader(store, run, parts.head(), new LogHash(sha256)).pages())
    for (const event of page) {
      const step = stepResultOf(event)
      if (step !== null) steps.push(step)
    }
  return steps
}
