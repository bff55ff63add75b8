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
  /** Its branches at the changes of `ctx.version` that it has passed, or that its log marks. */
  readonly versions: { readonly [change: string]: Branch }
}

/** The branch of a run at one change of its code. */
export interface Branch {
  readonly on: number
  /** The branches that the code offers; empty if it no longer asks. */
  readonly offered: readonly number[]
}

/** A branch of `ctx.version` that no checked run uses. */
export interface UnusedBranch {
  readonly procedure: string
  /** The version of the procedure. */
  readonly version: number
  readonly change: string
  readonly branch: number
}

/**
 * Lists the old branches that may be removed from the code: no checked run is on them. Pass the checks of all live runs.
 * @example for (const { change, branch } of unusedBranches(await engine.check())) console.log(change, branch)
 */
export function unusedBranches(checks: readonly RunCheck[]): readonly UnusedBranch[] {
  const offered = new Map<string, UnusedBranch>()
  const used = new Set<string>()
  for (const { procedure, version, versions } of checks)
    for (const [change, { on, offered: branches }] of Object.entries(versions)) {
      used.add(JSON.stringify([procedure, version, change, on]))
      for (const branch of branches.slice(0, -1))
        offered.set(JSON.stringify([procedure, version, change, branch]), {
          ...{ procedure, version, change, branch },
        })
    }
  return [...offered].flatMap(([key, branch]) => (used.has(key) ? [] : branch))
}
