import type { Remarks } from '../remarks.ts'

/**
 * Warns of a timer that was set in a turn of a run and has fired while the run is in memory, once for each procedure and
 * place in its code. What it changes is in no log, so that a replay may come to something else without a difference that
 * the log would show.
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
    `Procedure "${run.procedure}"${place}: a timer that ${api} set in a turn has fired. It is in no log: what the procedure makes of it may differ in a replay. Use ctx.sleep(), or the timeout of an operation. A timer of a logger or a cache is harmless.`,
    { run: run.id },
  )
}
