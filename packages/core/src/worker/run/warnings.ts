import { docsPage } from '../../base/docs.ts'
import type { ForeignAwait } from '../../kernel/decision.ts'
import type { Claimed } from '../../ports/store/claims.ts'
import type { Message } from '../../ports/store/mail.ts'
import type { WorkerServices } from '../services.ts'

// What is logged of a run that goes on.

/** No worker owns the run, so that nothing can be made of its move: it waits on, for what the log says it waits for. */
export function warnOfMove({ logger }: WorkerServices, run: string, { after, what }: ForeignAwait): void {
  logger.warn(
    `run "${run}" moved while it waits, after ${after}: ${what}. Nothing comes of that: it goes on when what it waits for comes. See ${docsPage('errors/foreign-await')}`,
  )
}

/** Warns of a signal that the procedure does not declare. A client that has no code cannot check the names of signals. */
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
    `Run "${run}" was sent the signal "${name}", which procedure "${procedure}" does not declare: it is never received. Declared: ${declared}.`,
    { run },
  )
}
