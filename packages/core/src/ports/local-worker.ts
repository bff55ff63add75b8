import type { LogEvent } from '../events/event.ts'
import type { Validation } from '../schemas/schema.ts'
import type { Claimant, Claimed } from './store/claims.ts'
import type { Message } from './store/mail.ts'
import type { RunKey } from './store/runs.ts'

/** The author's own schema for an answer. */
export type AnswerCheck = (value: unknown) => Validation | Promise<Validation>

/**
 * The worker in the same process, as a client sees it. What the client writes can then be claimed in the same
 * transaction, and nobody has to find it by polling. A client without a worker has none.
 */
export interface LocalWorker {
  /** Null while the worker takes no new work. */
  claimant(): Claimant | null
  /** Whether it has the code of a procedure: of this version, or of any. */
  knows(procedure: string, version: number | null): boolean
  /** The names of the signals that a version of a procedure declares; undefined if it does not have its code. */
  signalsOf(procedure: string, version: number): readonly string[] | undefined
  /** The author's own schema of an open question, if the run that asks is in memory here. */
  checkOf(run: RunKey, position: number): AnswerCheck | undefined
  /** Whether it has the run in its hands and its lease is proven: then the run has not ended. */
  holds(run: string): boolean
  /** What a run has returned, if it has just completed here. */
  outputOf(run: string): { readonly output: Uint8Array | null } | undefined
  onCreated(run: CreatedRun): void
  /** `message`: what was left for it in the same transaction, where that is known. */
  onClaimed(claimed: Claimed, message: Message | null): void
  /** A message was left for a run that somebody, perhaps this worker, owns. */
  onMail(run: RunKey, message: Message | null): void
  /** A run may be due. */
  onDue(): void
}

/** A run created already claimed. */
export interface CreatedRun {
  readonly claimed: Claimed
  readonly started: LogEvent
}
