import type { Actor } from '../base/people.ts'

/** The options of `signal`. */
export interface SignalOptions {
  /** Id of the signal. The same id is delivered to a run once. Default: none; each call sends another signal. Range: 1 to 200 characters. */
  readonly id?: string
  /** Who sends the signal, such as 'user:ana'; the log has it. Default: none. Range: 1 to 200 characters. */
  readonly by?: Actor | undefined
}

/** The options of `cancel`. */
export interface CancelOptions {
  /** Who cancels the run, such as 'user:ana'. Default: none. Range: 1 to 200 characters. */
  readonly by?: Actor
}

/** The options of calls on a run that have no others, such as `retry`, `delete` and `export`. */
export interface ActOptions {
  /**
   * Who makes the call, such as 'user:ana'. The observer is told, and the log has it if the call leaves something there.
   * Default: none. Range: 1 to 200 characters.
   */
  readonly by?: Actor | undefined
}
