import { askAddressOf } from '../../asks/ask-id.ts'
import { checkpointIdOf, slotOf } from '../../asks/checkpoints.ts'
import type { Sha256 } from '../../base/hash.ts'
import { toHex } from '../../base/hex.ts'
import { validate } from '../../host/run-schema.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { OptionalConcerns } from '../../ports/store/store.ts'
import type { Schema, Validation } from '../../schemas/schema.ts'
import type {
  Activity,
  ActivityContext,
  Draft,
  OtherRuns,
  StepHistory,
  StepResult,
} from '../activities/activity.ts'
import { type RetryPolicy, retrying } from '../retrying.ts'
import { guard, onMisuse } from './leaving.ts'
import { ReadFailed, readAgainMs } from './log-reader.ts'
import { createOtherRuns } from './other-runs.ts'
import { type RecentSteps, stepResultOf } from './recent-steps.ts'
import type { Start } from './start.ts'
import type { RunState } from './state.ts'

/** The context of a run's activities. One object per run; rarely used parts are created on demand. */
export class RunActivityContext implements ActivityContext {
  readonly #run: RunState
  #history: StepHistory | null = null
  #others: OtherRuns | null = null

  constructor(run: RunState) {
    this.#run = run
  }

  get runId(): string {
    return this.#run.id
  }
  get generation(): number {
    return this.#run.continuation.generation.number
  }
  hasCreatedBefore(child: string): boolean {
    return this.#run.continuation.notes.hasCreatedBefore(child)
  }
  get clock(): ActivityContext['clock'] {
    return this.#run.services.clock
  }
  get entropy(): ActivityContext['entropy'] {
    return this.#run.services.entropy
  }
  get slots(): ActivityContext['slots'] {
    return this.#run.services.slots
  }
  get logger(): ActivityContext['logger'] {
    return this.#run.services.logger
  }
  get observation(): ActivityContext['observation'] {
    return this.#run.observation
  }
  get escalateTo(): ActivityContext['escalateTo'] {
    return this.#run.services.escalateTo
  }
  get starters(): readonly string[] {
    return this.#run.continuation.family?.starters ?? []
  }
  get history(): StepHistory {
    this.#history ??= new LoggedSteps(this.#run)
    return this.#history
  }

  get others(): OtherRuns {
    this.#others ??= createOtherRuns(this.#run, (position) => this.idempotencyKey(position))
    return this.#others
  }

  lacks(concern: keyof OptionalConcerns): boolean {
    return this.#run.services.store[concern] === undefined
  }
  now(): number {
    return this.#run.services.time.now()
  }
  record(draft: Draft): void {
    this.#run.record(draft)
  }
  giveBack(n: number): void {
    this.#run.mailbox.giveBack(n)
  }
  retract(activity: Activity): void {
    this.#run.giveBack(this.#run.outbox.retract(activity))
  }
  parkFor(position: number, error: unknown): boolean {
    if (!this.#run.parksBugs) return false
    onMisuse(this.#run, { error, position })
    return true
  }
  lookAgain(): void {
    this.#run.ready()
  }
  guard(task: () => void): void {
    guard(this.#run, task)
  }
  take(topics: readonly string[]): Message | undefined {
    return this.#run.mailbox.take(topics)
  }

  idempotencyKey(position: number): string {
    return idempotencyKey(this.#run.services.sha256, this.#run.continuation.start, position)
  }

  askSlotAt(position: number): number {
    return this.#run.continuation.notes.askSlotAt(position)
  }

  nameAsk(position: number): { readonly ask: string; readonly address: string } {
    const { id, key, services } = this.#run
    const named = { runKey: key, run: id, position: this.askSlotAt(position) }
    return { ask: services.askIds.idOf(named), address: askAddressOf(named) }
  }

  nameCheckpoint(position: number): string {
    const { id, key, services } = this.#run
    return checkpointIdOf(services.askIds, { runKey: key, run: id, slot: slotOf(position), position })
  }

  checkUpdate(name: string, part: 'input' | 'output', value: unknown): Validation | Promise<Validation> {
    return check(this.#run.continuation.start.definition.updates?.get(name)?.[part], value)
  }

  checkSignal(name: string, payload: unknown): Validation | Promise<Validation> {
    return check(this.#run.continuation.start.definition.signals.get(name), payload)
  }
}

/** The results of earlier steps: from memory if there are few, otherwise from the log. */
class LoggedSteps implements StepHistory {
  readonly #run: RunState
  #reading: { readonly head: number; readonly steps: Promise<readonly StepResult[]> } | null = null

  constructor(run: RunState) {
    this.#run = run
  }

  get #recent(): RecentSteps {
    return this.#run.continuation.notes.steps
  }

  last(count: number): readonly StepResult[] | Promise<readonly StepResult[]> {
    return (
      this.#recent.last(count) ??
      this.#read().then((steps) => {
        this.#recent.keepMore(count, steps)
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
    const { head } = this.#run.log
    if (this.#reading?.head === head) return this.#reading.steps
    const steps = readSteps(this.#run).finally(() => {
      if (this.#reading?.steps === steps) this.#reading = null
    })
    this.#reading = { head, steps }
    return steps
  }
}

/** Computes a key from the run's seed instead of its id: ids may repeat in another database or over time, keys must not. */
function idempotencyKey(sha256: Sha256, { seed: drawn, fork }: Start, position: number): string {
  const seed = fork?.keys ?? drawn
  const seeded = new Uint8Array(seed.length + 4)
  seeded.set(seed)
  new DataView(seeded.buffer).setUint32(seed.length, position)
  return toHex(sha256(seeded).subarray(0, 16))
}

function check(schema: Schema | undefined, payload: unknown): Validation | Promise<Validation> {
  return schema === undefined ? { ok: true, value: payload } : validate(schema, payload)
}

/** Reads the step results, and waits until the store can be read: the ask cannot be opened before. @throws LogDamaged, WrittenLater */
async function readSteps(run: RunState): Promise<readonly StepResult[]> {
  const { logger, clock } = run.services
  const policy: RetryPolicy = {
    afterMs: readAgainMs,
    isOver: () => run.isOver,
    isRetried(error) {
      if (!(error instanceof ReadFailed)) return false
      logger.error(`Run "${run.id}" could not read its step results; retrying`, { error: error.cause })
      return true
    },
  }
  return retrying(clock, policy, async () => {
    const steps: StepResult[] = []
    for await (const page of run.log.pages())
      for (const event of page) {
        const step = stepResultOf(event)
        if (step !== null) steps.push(step)
      }
    return steps
  })
}
