import type { Sha256 } from '../../base/hash.ts'
import { toHex } from '../../base/hex.ts'
import type { LogEvent } from '../../events/event.ts'
import { validate } from '../../host/run-schema.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { Schema, Validation } from '../../schemas/schema.ts'
import type { Activity, ActivityContext, Draft, StepHistory, StepResult } from '../activities/activity.ts'
import type { WorkerServices } from '../services.ts'
import { ReadFailed, readAgainMs } from './log-reader.ts'
import { type RecentSteps, stepResultOf } from './recent-steps.ts'
import type { Start } from './start.ts'

/** The parts of a run that its activities use. */
export interface ActivityContextParts {
  start(): Start
  head(): number
  /** Yields the verified log from its beginning. */
  pages(): AsyncIterable<readonly LogEvent[]>
  recentSteps(): RecentSteps
  take(topics: readonly string[]): Message | undefined
  isGone(): boolean
  parkFor(position: number, error: unknown): boolean
  record(draft: Draft): void
  giveBack(n: number): void
  retract(activity: Activity): void
  lookAgain(): void
  guard(task: () => void): void
}

/** The context of a run's activities. One object per run; rarely used parts are created on demand. */
export class RunActivityContext implements ActivityContext {
  readonly runId: string
  readonly clock: ActivityContext['clock']
  readonly entropy: ActivityContext['entropy']
  readonly slots: ActivityContext['slots']
  readonly logger: ActivityContext['logger']
  readonly escalateTo: ActivityContext['escalateTo']
  readonly take: ActivityContext['take']
  readonly record: ActivityContext['record']
  readonly giveBack: ActivityContext['giveBack']
  readonly retract: ActivityContext['retract']
  readonly parkFor: ActivityContext['parkFor']
  readonly lookAgain: ActivityContext['lookAgain']
  readonly guard: ActivityContext['guard']
  readonly #services: WorkerServices
  readonly #parts: ActivityContextParts
  #history: StepHistory | null = null

  constructor(services: WorkerServices, run: { readonly id: string }, parts: ActivityContextParts) {
    this.runId = run.id
    this.clock = services.clock
    this.entropy = services.entropy
    this.slots = services.slots
    this.logger = services.logger
    this.escalateTo = services.escalateTo
    this.take = parts.take
    this.record = parts.record
    this.giveBack = parts.giveBack
    this.retract = parts.retract
    this.parkFor = parts.parkFor
    this.lookAgain = parts.lookAgain
    this.guard = parts.guard
    this.#services = services
    this.#parts = parts
  }

  get history(): StepHistory {
    this.#history ??= new LoggedSteps(this.#services, this.runId, this.#parts)
    return this.#history
  }

  now(): number {
    return this.#services.time.now()
  }

  idempotencyKey(position: number): string {
    return idempotencyKey(this.#services.sha256, this.#parts.start(), position)
  }

  checkSignal(name: string, payload: unknown): Validation | Promise<Validation> {
    return checkSignal(this.#parts.start().definition.signals.get(name), payload)
  }
}

/** The results of earlier steps: from memory if there are few, otherwise from the log. */
class LoggedSteps implements StepHistory {
  readonly #services: WorkerServices
  readonly #runId: string
  readonly #parts: ActivityContextParts
  #reading: { readonly head: number; readonly steps: Promise<readonly StepResult[]> } | null = null

  constructor(services: WorkerServices, runId: string, parts: ActivityContextParts) {
    this.#services = services
    this.#runId = runId
    this.#parts = parts
  }

  last(count: number): readonly StepResult[] | Promise<readonly StepResult[]> {
    const recent = this.#parts.recentSteps()
    return (
      recent.last(count) ??
      this.#read().then((steps) => {
        this.#parts.recentSteps().keepMore(count, steps)
        return steps.slice(-count)
      })
    )
  }

  async named(names: readonly string[]): Promise<readonly StepResult[]> {
    const steps = await this.#read()
    return steps.filter(({ name }) => names.includes(name))
  }

  /** Reads the log once for asks that are opened at the same time. */
  #read(): Promise<readonly StepResult[]> {
    const head = this.#parts.head()
    if (this.#reading?.head === head) return this.#reading.steps
    const steps = readSteps(this.#services, this.#runId, this.#parts).finally(() => {
      if (this.#reading?.steps === steps) this.#reading = null
    })
    this.#reading = { head, steps }
    return steps
  }
}

/** Computes a key from the run's seed instead of its id: ids may repeat in another database or over time, keys must not. */
function idempotencyKey(sha256: Sha256, { seed }: Start, position: number): string {
  const seeded = new Uint8Array(seed.length + 4)
  seeded.set(seed)
  new DataView(seeded.buffer).setUint32(seed.length, position)
  return toHex(sha256(seeded).subarray(0, 16))
}

function checkSignal(schema: Schema | undefined, payload: unknown): Validation | Promise<Validation> {
  return schema === undefined ? { ok: true, value: payload } : validate(schema, payload)
}

/** Reads the step results, and waits until the store can be read: the ask cannot be opened before. @throws LogDamaged, WrittenLater */
async function readSteps(
  { logger, clock }: WorkerServices,
  runId: string,
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
      logger.error(`Run "${runId}" could not read its step results; retrying`, {
        error: error.cause,
      })
      await new Promise<void>((resolve) => clock.after(readAgainMs, resolve))
    }
  }
  return []
}
