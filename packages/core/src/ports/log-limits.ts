/** Limits of the number of events in one generation of a log. */
export interface LogLimits {
  /** From this number on, a warning is logged. */
  readonly warn: number
  /** At this number, the run fails. */
  readonly full: number
}

export const defaultLogLimits: LogLimits = { warn: 10_000, full: 1_000_000 }
