import type { LogEvent } from '../events/event.ts'
import type { Validation } from '../schemas/schema.ts'
import type { Claimant, Claimed } from './store/claims.ts'
import type { Message } from './store/mail.ts'
import type { RunKey } from './store/runs.ts'
import type { WorkerKey } from './store/workers.ts'

/** Validates an answer with the author's own schema. */
export type AnswerCheck = (value: unknown) => Validation | Promise<Validation>

/**
 * The worker of the same process, as its client uses it.
 * It can claim what the client writes in the same transaction, without polling. A standalone client has none.
 */
export interface LocalWorker {
  /** Returns null while the worker claims nothing. */
  claimant(): Claimant | null
  /** Returns whether it has a procedure's code, of the given version or of any. */
  knows(procedure: string, version: number | null): boolean
  /** Returns the signals that a version of a procedure declares; undefined if it does not have its code. */
  signalsOf(procedure: string, version: number): readonly string[] | undefined
  /** Returns the author's schema of an open ask, if its run is loaded here. */
  checkOf(run: RunKey, position: number): AnswerCheck | undefined
  /** Returns whether it owns the run and has confirmed its lease: then the run has not ended. */
  holds(run: string): boolean
  /** Returns the output of a run that has just completed here. */
  outputOf(run: string): { readonly output: Uint8Array | null } | undefined
  onCreated(run: CreatedRun): void
  /** Called when `worker` has claimed the run. `message` is the one stored in the same transaction, if known. */
  onClaimed(claimed: Claimed, message: Message | null, worker: WorkerKey): void
  /** Called when a message was stored for a run that is owned, perhaps by this worker. */
  onMail(run: RunKey, message: Message | null): void
  /** Called when a run that had ended was started again. */
  onRestarted(run: string): void
  /** Called when a run was deleted. */
  onRemoved(run: RunKey): void
  /** Called when a run may be due. */
  onDue(): void
}

/** A run that was created already claimed by `worker`. */
export interface CreatedRun {
  readonly worker: WorkerKey
  readonly claimed: Claimed
  readonly started: LogEvent
}
