import type { AskSpec } from '../../authoring/operations.ts'
import type { LogEvent } from '../../events/event.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Entropy } from '../../ports/entropy.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Effect } from '../../ports/store/commit.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { Validation } from '../../schemas/schema.ts'
import type { Slots } from '../slots.ts'

/** Code of the author's is at work, or waits for a slot to begin in. */
export type Busy = false | 'queued' | 'working'

/** What the worker does for one pending operation, from its issue to the event that settles it. */
export interface Activity {
  /** While it is, the run is not let go; when the worker stops, only for what is at work. */
  readonly busy: Busy
  /**
   * When it wants to be looked at again, by the store's clock, once what it drafted is written; null: only a
   * message or its own end moves it.
   */
  readonly dueAt: number | null
  /** Begins, or begins again after what it had wanted to record was refused because of a message. */
  begin(): void
  /** Its time has come. */
  onDue(): void
  /** What it would take a message about, at present. */
  readonly topics: readonly string[]
  /** The oldest message about one of its topics; it is recorded, or given back. */
  onMessage(message: Message): void
  /** An event of its own that settles nothing is in the log. */
  onRecorded(event: LogEvent): void
  /** The run ends, or is not ours any more: let go of everything. */
  stop(): void
  /**
   * The scope of its operation was closed. True: people see it, and it is kept until it has recorded that it is
   * withdrawn. Otherwise it is stopped, and so it is without this method.
   */
  close?(): boolean
  /** An open ask, which the end of the run withdraws. */
  readonly isOpenAsk: boolean
  /** Of an ask: the author's own schema for the answer. */
  readonly check?: AskSpec['check']
}

/** What an activity wants to have written, in the run's next unit. */
export interface Draft {
  /** Null: nothing but the messages are consumed. */
  readonly type: 'asked' | 'attempted' | 'settled' | 'withdrawn' | null
  readonly pending: Pending
  readonly failed?: boolean
  readonly tookMs?: number | null
  readonly payload?: Uint8Array | null
  /** What else changes when it is written. */
  readonly effects?: readonly Effect[]
  /** Refused if a message has come that the run has not seen: then the activity begins again. */
  readonly strict?: Activity
}

/** What an activity is given by its run. */
export interface ActivityContext {
  readonly runId: string
  readonly clock: Clock
  readonly entropy: Entropy
  readonly slots: Slots
  readonly logger: Logger
  /** Who else sees an overdue ask. */
  readonly escalateTo: string | undefined
  /** The store's clock. */
  now(): number
  record(draft: Draft): void
  /** Leaves a message to others that it has taken and records nothing of. */
  giveBack(n: number): void
  /** Takes back what the activity wanted recorded and was not sent yet. */
  retract(activity: Activity): void
  /**
   * Parks the run for a misuse that was found as the operation began, once the bodies at work are done. False: the
   * procedure lets bugs fail it, and the misuse is to be recorded.
   */
  parkFor(position: number, misuse: unknown): boolean
  /** Something changed that nothing is recorded for; the run looks again. */
  lookAgain(): void
  /** For what goes on later than the call that began it: what it throws puts the run aside, and nothing else. */
  guard(task: () => void): void
  idempotencyKey(position: number): string
  /** The oldest message about any of these topics, now its own. */
  take(topics: readonly string[]): Message | undefined
  readonly history: StepHistory
  /** The schema of a signal the procedure declares. */
  checkSignal(name: string, payload: unknown): Validation | Promise<Validation>
}

export interface StepResult {
  readonly kind: 'step' | 'llm'
  readonly name: string
  readonly payload: Uint8Array | null
  readonly tookMs: number
}
/** Earlier step results, for those who are asked. */
export interface StepHistory {
  /** The last ones, oldest first; from memory where they are few. */
  last(count: number): readonly StepResult[] | Promise<readonly StepResult[]>
  named(steps: readonly string[]): Promise<readonly StepResult[]>
}

/** The effect that marks message `n` as used. */
export function consume(n: number): Effect {
  return { do: 'consume', n }
}
