import { docsPage } from '../../base/docs.ts'
import type { ForeignAwait } from '../../kernel/decision.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { WorkerServices } from '../services.ts'

// Warnings about runs that continue.

/** Warns of a parked run that moved. No worker owns it, so the move is ignored, and it keeps waiting as the log says. */
export function warnOfMove({ logger }: WorkerServices, run: string, { after, what }: ForeignAwait): void {
  logger.warn(
    `Run "${run}" was resumed by something outside ctx while parked (after ${after}: ${what}). This is ignored; the run resumes when its pending operation settles. See ${docsPage('errors/foreign-await')}`,
  )
}

/** Warns of a signal that the procedure does not declare. A client without the code cannot check the names of signals. */
export function warnOfUndeclared(
  services: WorkerServices,
  { id: run, procedure, version }: Claimed,
  { kind, name }: Message,
): void {
  const definition = services.procedure(procedure, version)
  if (kind !== 'signal' || definition === undefined || definition.signals.has(name)) return
  const declared = [...definition.signals.keys()].join(', ') || 'no signals'
  services.remarks.warn(
    `signal ${name} in ${procedure}`,
    `Run "${run}" was sent the signal "${name}", which procedure "${procedure}" does not declare. It is never received. Declared: ${declared}.`,
    { run },
  )
}
