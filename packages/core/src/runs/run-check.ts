import type { ErrorCode } from '../errors/error-details.ts'

/**
 * What a run does with the code of an engine.
 * - `same`: its log matches the code
 * - `text-only`: it matches, but the code words an open ask differently. People see the ask as it was asked
 * - `diverges`: the run gets stuck, because the code asks for something else than the log contains
 * - `broken`: the run gets stuck, or is quarantined, for another reason
 * - `no-code`: the engine does not have its procedure, or not in its version
 */
export type RunCheck = CheckedRun &
  (
    | { readonly verdict: 'same' | 'text-only' | 'no-code' }
    | {
        readonly verdict: 'diverges'
        readonly position: number
        /** What the log contains. */
        readonly recorded: string
        /** What the code asks for. */
        readonly asked: string
        /** Where it asks for it, as file:line:column; '' if that is unknown. */
        readonly at: string
      }
    | {
        readonly verdict: 'broken'
        readonly code: ErrorCode
        readonly message: string
        /** Where it happens, as file:line:column; '' if that is unknown. */
        readonly at: string
      }
  )

/** The run that was checked. */
export interface CheckedRun {
  readonly run: string
  readonly procedure: string
  /** 0: it has none yet, since no worker has claimed it. */
  readonly version: number
}
