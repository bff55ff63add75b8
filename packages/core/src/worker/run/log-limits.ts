import { PawlError } from '../../errors/pawl-error.ts'
import { type Ending, failWith } from './ending.ts'
import type { RunState } from './state.ts'

/** Warns of a log that has just become long: `before` is its length before the last unit. */
export function warnOfLength({ log, services, id }: RunState, before: number): void {
  const { warn, full } = services.logLimits
  if (before >= warn || log.length < warn) return
  services.logger.warn(
    `The log of run "${id}" has ${log.length} events; at ${full} the run fails. Continue with an empty log: return ctx.continueAs(…)`,
  )
}

/** Whether the run has to end, because its log is full. One that is cancelled, or is being rolled back, ends by itself. */
export function isFull({ log, services, ending, bug, cancelled, continuation }: RunState): boolean {
  if (log.length < services.logLimits.full) return false
  return ending === null && bug === null && cancelled === null && continuation.rollback.reason === undefined
}

/** The end of a run whose log is full. */
export function endFull({ id, log, continuation }: RunState): Ending {
  const error = new PawlError('log-full', { run: id, events: log.length })
  return { ...failWith(error, continuation.pending), skips: 'the log of the run is full' }
}
