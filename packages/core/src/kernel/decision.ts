import type { Pending } from './operation.ts'

/** What a run wants, once every event is delivered and its queues are drained. A value, never a throw. */
export type Decision =
  /** It waits for operations; `issued` are new since the last decision. */
  | { readonly state: 'waiting'; readonly issued: readonly Pending[] }
  | { readonly state: 'completed'; readonly output: unknown; readonly left: readonly Pending[] }
  | { readonly state: 'failed'; readonly error: unknown; readonly left: readonly Pending[] }
  | Nondeterminism
  | ForeignAwait
  /** Recorded bytes cannot be understood. */
  | { readonly state: 'unreadable'; readonly position: number; readonly error: Error }

/** The code no longer matches the log: both sides, and where. */
export interface Nondeterminism {
  readonly state: 'nondeterminism'
  readonly position: number
  readonly recorded: string
  readonly asked: string
}

/** The procedure waits for, or was moved by, something outside `ctx`. */
export interface ForeignAwait {
  readonly state: 'foreign-await'
  /** The last operation before it. */
  readonly after: string
  readonly what: string
}
