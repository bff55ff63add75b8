import type { Remarks } from '../remarks.ts'

/**
 * Warns of a timer that was set in a turn and has fired while the run is loaded, once per procedure and location.
 * The log does not record it, so a replay may take another course without a difference in the log.
 */
export function remarkOnTimer(
  remarks: Remarks,
  run: { readonly id: string; readonly procedure: string },
  api: string,
  at: string | undefined,
): void {
  const place = at === undefined ? '' : ` (${at})`
  remarks.warn(
    `timer ${at ?? api} in ${run.procedure}`,
    `Procedure "${run.procedure}"${place}: a timer that ${api} set in a turn has fired. The log does not record it, so a replay may behave differently. Use ctx.sleep(), or the timeout of an operation. Timers of loggers and caches are harmless.`,
    { run: run.id },
  )
}
