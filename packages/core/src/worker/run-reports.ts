import { clipText } from '../base/text.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

/** Number of runs of one procedure, code and call site with a line each; afterwards there is one line per pause. */
const maxLines = 10
const pauseMs = 60_000
/** Maximum number of groups; the number of codes is unbounded, since authors choose them. */
const maxGroups = 1_000
/** Maximum length of a cause in a line, in UTF-16 units. `status().failure` has all of it. */
const maxCause = 2_000

/** A problem of a run that a person should know about. */
export interface RunReport {
  readonly run: string
  readonly procedure: string
  readonly outcome:
    | 'failed'
    | 'is stuck'
    | 'is quarantined'
    | 'has an unhandled rejection'
    | 'has a failed undo'
  readonly code: string
  /** file:line:column in the author's code, if it is known. */
  readonly at: string | undefined
  /** The name of the undo that failed. */
  readonly undo?: string
  /** The position of the failed operation, which distinguishes reports whose error has no location. */
  readonly position?: number
  readonly cause: string
  readonly remedy: string
  /** The internal error, for maintainers of Pawl; logged beside the line. */
  readonly error?: unknown
}

interface Group {
  lines: number
  lastLineAt: number
  /** The number of reports since the last line. */
  count: number
  last: RunReport
}

/**
 * Logs problems of runs: one line per run for the first 10 of a procedure, code and call site, afterwards at most one line
 * a minute with the count.
 */
export class RunReports {
  readonly #logger: Logger
  readonly #clock: Clock
  readonly #groups = new Map<string, Group>()

  constructor(logger: Logger, clock: Clock) {
    this.#logger = logger
    this.#clock = clock
  }

  add(report: RunReport): void {
    const group = this.#groupOf(report)
    group.count++
    group.last = report
    if (group.lines < maxLines || this.#isPauseOver(group)) this.#log(group)
  }

  /** Whether the report gets its own line, which justifies some effort. */
  isLineDue(report: RunReport): boolean {
    const group = this.#groups.get(keyOf(report))
    return group === undefined || group.lines < maxLines || this.#isPauseOver(group)
  }

  /** Logs the counts whose pause is over; with `all`, every count, since the worker stops. */
  flush(all = false): void {
    for (const group of this.#groups.values())
      if (group.count > 0 && (all || this.#isPauseOver(group))) this.#log(group)
  }

  /** Returns the group and moves it to the end, so that the first one has been silent for longest. */
  #groupOf(report: RunReport): Group {
    const key = keyOf(report)
    const group = this.#groups.get(key) ?? { lines: 0, lastLineAt: 0, count: 0, last: report }
    this.#groups.delete(key)
    this.#groups.set(key, group)
    if (this.#groups.size > maxGroups) this.#forgetOldest()
    return group
  }

  #forgetOldest(): void {
    const [oldest] = this.#groups
    if (oldest === undefined) return
    const [key, group] = oldest
    if (group.count > 0) this.#log(group)
    this.#groups.delete(key)
  }

  #isPauseOver({ lastLineAt }: Group): boolean {
    return this.#clock.elapsed() - lastLineAt >= pauseMs
  }

  #log(group: Group): void {
    const { count, last } = group
    const { run, procedure, outcome, code, at, undo, error } = last
    const now = this.#clock.elapsed()
    const times =
      count === 1 ? '' : `, ${count} times in the last ${Math.ceil((now - group.lastLineAt) / 1_000)} s`
    group.lines++
    group.lastLineAt = now
    group.count = 0
    this.#logger.error(describe(last, times), {
      ...{ run, procedure, outcome, code },
      ...(undo === undefined ? {} : { undo }),
      ...(at === undefined ? {} : { at }),
      ...(count === 1 ? {} : { count }),
      ...(error === undefined ? {} : { error }),
    })
  }
}

function keyOf({ procedure, outcome, code, at, position }: RunReport): string {
  return JSON.stringify([procedure, outcome, code, position ?? at])
}

function describe({ run, procedure, outcome, code, at, cause, remedy }: RunReport, times: string): string {
  const place = at === undefined ? '' : ` at ${at}`
  const reported = clipText(cause.replaceAll(/\s*\n\s*/g, ' '), maxCause).replace(/\.?$/, '.')
  return `Run "${run}" ${outcome} (${code} in procedure "${procedure}"${place}${times}): ${reported} ${remedy}`
}
