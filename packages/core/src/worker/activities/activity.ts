import type { AskSpec, ChildSpec } from '../../authoring/operations.ts'
import type { SignalContent } from '../../authoring/signal/arguments.ts'
import type { LogEvent } from '../../events/event.ts'
import type { EndedPayload } from '../../events/payloads.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Entropy } from '../../ports/entropy.ts'
import type { Logger } from '../../ports/logger.ts'
import type { AttemptObservation } from '../../ports/observer.ts'
import type { Effect, RefusedWhy } from '../../ports/store/log.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { ChildRun, RunRow } from '../../ports/store/runs.ts'
import type { OptionalConcerns } from '../../ports/store/store.ts'
import type { Schema, Validation } from '../../schemas/schema.ts'
import type { Slots } from '../slots.ts'

/** Whether the author's code is running, or is queued for a slot. */
export type Busy = false | 'queued' | 'working'

/** Carries out one pending operation, from its issue to the event that settles it. */
export interface Activity {
  /** While busy, the run is not released; when the worker stops, only running code counts. */
  readonly busy: Busy
  /**
   * When it wants to be called again, by the store's clock, once its drafts are written. Null: only a message or its own
   * end changes it.
   */
  readonly dueAt: number | null
  /** Starts, or restarts after its draft was rejected because of a message. */
  begin(): void
  /** Called when it is due. */
  onDue(): void
  /** The topics of messages that it accepts at present. */
  readonly topics: readonly string[]
  /** The topic of a message that the author's schema is checking. In a race the next ones wait: it may give this one back. */
  readonly checkedTopic?: string | null
  /** Receives the oldest message of one of its topics, and records it or gives it back. */
  onMessage(message: Message): void
  /** Called when an event of its own that settles nothing was written. */
  onRecorded(event: LogEvent): void
  /** Called when the run ends or has another owner; releases everything. */
  stop(): void
  /**
   * Called when the scope of its operation was closed. True: people see it, and it is kept until it has recorded that it is
   * withdrawn. Otherwise, and without this method, it is stopped.
   */
  close?(): boolean
  /** Whether it is an open ask, which the end of the run withdraws. */
  readonly isOpenAsk: boolean
  /** For an ask: the author's schema of the answer. */
  readonly check?: AskSpec['check']
}

/** An event that an activity wants to write in the run's next unit. */
export interface Draft {
  /** Null: only marks messages as used. */
  readonly type: 'asked' | 'attempted' | 'created' | 'settled' | 'withdrawn' | null
  readonly pending: Pending
  readonly failed?: boolean
  readonly tookMs?: number | null
  readonly payload?: Uint8Array | null
  /** Further changes to write with the event. */
  readonly effects?: readonly Effect[]
  /** The payload of a `cancelled` event that is written before it: this result cancels the run. */
  readonly cancels?: Uint8Array
  /** Rejected if a message has arrived that the run has not seen; then the activity restarts. */
  readonly strict?: Activity
  /** Called instead of writing the draft if another run does not allow its effect. */
  readonly onRefused?: (why: RefusedWhy) => void
}

/** What the run itself wants to have written: behind all that its activities want. */
export interface RunDraft {
  readonly type: 'cancelled'
  readonly payload: Uint8Array
  /** The message that it records is consumed. */
  readonly effects: readonly Effect[]
}

/** The services of a run for its activities. */
export interface ActivityContext {
  readonly runId: string
  /** The number of the run's generation. */
  readonly generation: number
  /** Whether the run has created a child before it was retried, and may ask for it again. */
  hasCreatedBefore(child: string): boolean
  readonly clock: Clock
  readonly entropy: Entropy
  readonly slots: Slots
  readonly logger: Logger
  /** Null without an observer. */
  readonly observation: {
    attempt(pending: Pending, number: number): Pick<AttemptObservation, 'run'>
  } | null
  /** The audience that also sees an overdue ask. */
  readonly escalateTo: string | undefined
  /** Who started the runs of which this one, or a run above it, is a fork. */
  readonly starters: readonly string[]
  /** Whether the store lacks a concern. */
  lacks(concern: keyof OptionalConcerns): boolean
  /** Returns the store's time. */
  now(): number
  record(draft: Draft): void
  /** Returns a message that it took but does not record, so that another operation can take it. */
  giveBack(n: number): void
  /** Removes drafts of an activity that were not sent yet. */
  retract(activity: Activity): void
  /**
   * Parks the run for a misuse found when the operation started, once the running bodies are done. False: bugs fail this
   * procedure, and the misuse is to be recorded.
   */
  parkFor(position: number, misuse: unknown): boolean
  /** Makes the run check again after a change that records nothing. */
  lookAgain(): void
  /** Runs a task outside the call that started it. An error that it throws parks the run and has no other effect. */
  guard(task: () => void): void
  idempotencyKey(position: number): string
  /** Returns the number under which the ask of the operation at a position is stored. */
  askSlotAt(position: number): number
  /** Returns the id and the address of the ask at a position. */
  nameAsk(position: number): { readonly ask: string; readonly address: string }
  /** Returns the id of the checkpoint that an operation writes. */
  nameCheckpoint(position: number): string
  /** Takes the oldest message of these topics. */
  take(topics: readonly string[]): Message | undefined
  readonly history: StepHistory
  readonly others: OtherRuns
  /** Validates the payload of a signal that the procedure declares. */
  checkSignal(name: string, payload: unknown): Validation | Promise<Validation>
  /** Validates the input of an update, or the reply to it. */
  checkUpdate(name: string, part: 'input' | 'output', value: unknown): Validation | Promise<Validation>
}

/** What a run knows of other runs. */
export interface OtherRuns {
  /** Composes the run that an operation creates. @throws PawlError 'input-invalid', 'payload-refused', 'family-full' */
  compose(child: ChildSpec, position: number, isCalled: boolean): ChildRun | Promise<ChildRun>
  /** Whether an operation of this run creates a run with this id in the next unit. */
  isBeingCreated(id: string): boolean
  find(id: string): Promise<RunRow | null>
  /** Whether this run was imported, and the child that it has created comes with an import of its own. */
  comesLater(id: string): boolean
  /** Logs that a child which comes later is missing. */
  warnOfMissing(id: string): void
  /**
   * Returns the id of the run that a program means with an id: in a fork, the run that it has created under this id, if there is one.
   * `isTouched`: it gets a message, or is cancelled. @throws PawlError 'run-shared' (a fork touches a run of its original)
   */
  address(id: string, isTouched: boolean): string | Promise<string>
  /** Whether a run was started with the input of a child, as the child was composed or as it was `given`. @throws PawlError 'run-quarantined' */
  hasInput(row: RunRow, child: ChildRun, given: Uint8Array | null): Promise<boolean>
  /** Returns how a run has ended. @throws ReadFailed, LogDamaged, WrittenLater */
  readEnd(row: RunRow): Promise<EndedPayload>
  /** Checks and encodes a signal. @throws PawlError 'payload-invalid', 'payload-refused', 'option-invalid' */
  readSignal(schema: Schema | undefined, args: readonly unknown[]): SignalContent | Promise<SignalContent>
}

export interface StepResult {
  readonly kind: 'step' | 'llm' | 'ail_decision'
  readonly name: string
  readonly payload: Uint8Array | null
  readonly tookMs: number
}
/** Earlier step results, to show in asks. */
export interface StepHistory {
  /** Returns the last results, oldest first; from memory if there are few. */
  last(count: number): readonly StepResult[] | Promise<readonly StepResult[]>
  named(steps: readonly string[]): Promise<readonly StepResult[]>
}

/** Creates the effect that marks message `n` as used. */
export function consume(n: number): Effect {
  return { do: 'consume', n }
}
