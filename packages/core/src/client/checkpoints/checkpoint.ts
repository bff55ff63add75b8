import type { ActOptions } from '../../authoring/message-options.ts'
import type { Duration } from '../../base/duration.ts'
import type { Actor } from '../../base/people.ts'
import type { Page } from '../page.ts'

/** A point of a run that has an id: one that was saved, or a question to a person. */
export interface Checkpoint {
  /** 16 hexadecimal digits. */
  readonly id: string
  /** Id of the run. */
  readonly run: string
  /** The position that it was made at: of `ctx.checkpoint`, or behind the last result that the run had recorded. */
  readonly position: number
  /** The key, if it is a question that has one. */
  readonly name: string | undefined
  readonly createdAt: Date
  /** As saved, unchecked: parse it. A question has none. */
  readonly state: unknown
}

/** The options of `checkpoints.create`. */
export interface CheckpointOptions {
  /** Name, for people. Default: none. Range: 1 to 200 characters. */
  readonly name?: string
  /** Whether a save that fails rejects; otherwise it logs a warning and resolves with null. Default: true. */
  readonly required?: boolean
  /** Who saves it, such as 'user:ana'; the observer is told. Default: none. Range: 1 to 200 characters. */
  readonly by?: Actor | undefined
}

/** The filter of `checkpoints.listAll`. */
export interface CheckpointFilter {
  /** Only checkpoints that are at least this old. Default: all. */
  readonly olderThan?: Duration
  /** The `cursor` of the previous page. Default: the first page. */
  readonly cursor?: string | undefined
}

/** Selects the checkpoints that `checkpoints.cleanup` deletes: checkpoints that match all options. */
export interface CheckpointCleanup {
  /** Only checkpoints that are at least this old. Default: of any age. */
  readonly olderThan?: Duration
  /** Number of checkpoints that each run keeps, the newest. Default: 0. Range: whole numbers from 0. */
  readonly keep?: number
  /** Whether checkpoints of runs that have not ended are left alone. Default: false. */
  readonly onlyFinished?: boolean
}

/**
 * The checkpoints of all runs: what `ctx.checkpoint` records, and what `create` makes. A run never needs one to continue after
 * a crash. `client.fork` starts another run from one. The checkpoints of a run are deleted when it completes.
 */
export interface Checkpoints {
  /**
   * Saves a value at the present position of a run that has not ended. What the run has recorded by then is what a fork shares.
   * With `required: false`, a save that fails logs a warning and resolves with null: use it where the work matters more.
   * @throws PawlError 'run-not-found', 'run-ended', 'payload-refused', 'option-invalid'
   * @example const { id } = await engine.checkpoints.create(run.id, { step: 1 }, { name: 'fetched' })
   */
  create(
    run: string,
    state: unknown,
    options?: CheckpointOptions & { readonly required?: true },
  ): Promise<Checkpoint>
  create(run: string, state: unknown, options: CheckpointOptions): Promise<Checkpoint | null>
  /** Returns a checkpoint by its id, which may be that of an ask, or the latest saved one of a run; null if there is none. */
  load(checkpointOrRun: string): Promise<Checkpoint | null>
  /** Returns the latest saved checkpoint of a run; null if there is none, or no such run. */
  latest(run: string): Promise<Checkpoint | null>
  /** Lists the checkpoints of a run, newest first. One that cannot be read is left out, with a warning in the log. */
  list(run: string): Promise<readonly Checkpoint[]>
  /**
   * Lists the checkpoints of all runs in pages of at most 50, newest first.
   * @throws PawlError 'option-invalid', 'duration-invalid'
   */
  listAll(filter?: CheckpointFilter): Promise<Page<Checkpoint>>
  /** Deletes a checkpoint by its id, or all checkpoints of a run. Returns how many there were. */
  delete(checkpointOrRun: string, options?: ActOptions): Promise<number>
  /**
   * Deletes checkpoints by age, number and whether their run has ended. Returns how many. `retention` of an engine does so by itself.
   * @throws PawlError 'option-invalid' (also if it would delete all, and `keep: 0` does not say so), 'duration-invalid'
   * @example await engine.checkpoints.cleanup({ olderThan: '24h', onlyFinished: true })
   */
  cleanup(what: CheckpointCleanup, options?: ActOptions): Promise<number>
}
