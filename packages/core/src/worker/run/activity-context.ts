import type { Sha256 } from '../../base/hash.ts'
import { toHex } from '../../base/hex.ts'
import type { LogEvent } from '../../events/event.ts'
import { validate } from '../../host/run-schema.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { Schema, Validation } from '../../schemas/schema.ts'
import type { Activity, ActivityContext, Draft, StepResult } from '../activities/activity.ts'
import type { WorkerServices } from '../services.ts'
import { ReadFailed, readAgainMs } from './log-reader.ts'
import { type RecentSteps, stepResultOf } from './recent-steps.ts'
import type { Start } from './start.ts'

/** The parts of a run its activities depend on. */
export interface ActivityContextParts {
  start(): Start
  head(): number
  /** The log from its beginning, verified. */
  pages(): AsyncIterable<readonly LogEvent[]>
  recentSteps(): RecentSteps
  take(topics: readonly string[]): Message | undefined
  isGone(): boolean
  parkFor(position: number, error: unknown): boolean
  record(draft: Draft): void
  retract(activity: Activity): void
  lookAgain(): void
  guard(task: () => void): void
}

/** Members that hold what they hold, not getters: those would make each run's workplace a shape of its own to V8. */
export function createActivityContext(
  services: WorkerServices,
  run: { readonly id: string },
  parts: ActivityContextParts,
): ActivityContext {
  const { clock, entropy, slots, logger, escalateTo, time, sha256 } = services
  let reading: { readonly head: number; readonly steps: Promise<readonly StepResult[]> } | null = null
  /** Questions that are asked at once read the log once. */
  const read = (): Promise<readonly StepResult[]> => {
    const head = parts.head()
    if (reading?.head === head) return reading.steps
    const steps = readSteps(services, run, parts).finally(() => {
      if (reading?.steps === steps) reading = null
    })
    reading = { head, steps }
    return steps
  }
  return {
    runId: run.id,
    clock,
    entropy,
    slots,
    logger,
    escalateTo,
    now: () => time.now(),
    take: parts.take,
    record: parts.record,
    retract: parts.retract,
    parkFor: parts.parkFor,
    lookAgain: parts.lookAgain,
    guard: parts.guard,
    idempotencyKey: (position) => idempotencyKey(sha256, parts.start(), position),
    checkSignal: (name, payload) => checkSignal(parts.start().definition.signals.get(name), payload),
    history: {
      last: (count) =>
        parts.recentSteps().last(count) ??
        read().then((steps) => {
          parts.recentSteps().keepMore(count, steps)
          return steps.slice(-count)
        }),
      named: (names) => read().then((steps) => steps.filter(({ name }) => names.includes(name))),
    },
  }
}

/** From the run's seed, not its id: the same id in two databases, or used again, must not give the same key. */
function idempotencyKey(sha256: Sha256, { seed }: Start, position: number): string {
  const seeded = new Uint8Array(seed.length + 4)
  seeded.set(seed)
  new DataView(seeded.buffer).setUint32(seed.length, position)
  return toHex(sha256(seeded).subarray(0, 16))
}

function checkSignal(schema: Schema | undefined, payload: unknown): Validation | Promise<Validation> {
  return schema === undefined ? { ok: true, value: payload } : validate(schema, payload)
}

/** Waits until the store can be read: before that there is no question to ask. @throws LogDamaged, WrittenLater */
async function readSteps(
  { logger, clock }: WorkerServices,
  run: { readonly id: string },
  parts: ActivityContextParts,
): Promise<readonly StepResult[]> {
  while (!parts.isGone()) {
    try {
      const steps: StepResult[] = []
      for await (const page of parts.pages())
        for (const event of page) {
          const step = stepResultOf(event)
          if (step !== null) steps.push(step)
        }
      return steps
    } catch (error) {
      if (!(error instanceof ReadFailed)) throw error
      logger.error(`run "${run.id}" could not read what it shall show; it tries again`, {
        error: error.cause,
      })
      await new Promise<void>((resolve) => clock.after(readAgainMs, resolve))
    }
  }
  return []
}
