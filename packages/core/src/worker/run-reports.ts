import { clipText } from '../base/text.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

/** Runs of one procedure, code and call site that get a line each; then there is one line per pause. */
const maxLines = 10
const pauseMs = 60_000
/** Groups remembered; codes are the author's, and may have no end. */
const maxGroups = 1_000
/** UTF-16 units of a cause in a line. The whole of it is in `status().failure`. */
const maxCause = 2_000

/** What has become of a run that a person should know of. */
export interface RunReport {
  readonly run: string
  readonly procedure: string
  readonly outcome: 'failed' | 'is stuck' | 'is quarantined' | 'has an unhandled rejection'
  readonly code: string
  /** file:line:column in the author's code, if it is known. */
  readonly at: string | undefined
  /** Of the operation that failed, which tells reports apart if the error itself does not say where it was thrown. */
  readonly position?: number
  readonly cause: string
  readonly remedy: string
  /** For people who mend Pawl: it stands beside the line. */
  readonly error?: unknown
}

interface Group {
  lines: number
  lastLineAt: number
  /** Reports since the last line. */
  count: number
  last: RunReport
}

/**
 * Logs what has become of runs: one line per run for the first 10 of a procedure, code and call site, afterwards at
 * most one line a minute, with the count.
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

  /** Whether the report would be a line of its own, which is worth some effort. */
  isLineDue(report: RunReport): boolean {
    const group = this.#groups.get(keyOf(report))
    return group === undefined || group.lines < maxLines || this.#isPauseOver(group)
  }

  /** Logs the counts whose pause is over; `all`: also the others, since the worker stops. */
  flush(all = false): void {
    for (const group of this.#groups.values())
      if (group.count > 0 && (all || this.#isPauseOver(group))) this.#log(group)
  }

  /** Moves it behind the others, so that the first is the one that was silent for longest. */
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
    const { run, procedure, code, at, error } = last
    const now = this.#clock.elapsed()
    const times =
      count === 1 ? '' : `, ${count} times in the last ${Math.ceil((now - group.lastLineAt) / 1_000)} s`
    group.lines++
    group.lastLineAt = now
    group.count = 0
    this.#logger.error(describe(last, times), {
      ...{ run, procedure, code },
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
