import type { ProcedureOperation } from '../../authoring/operations.ts'
import type { Pending } from '../../kernel/operation.ts'
import { findCallSite } from './find-call-site.ts'
import type { RunState, UnreadQuestion } from './state.ts'

// Questions that a run leaves open when its procedure returns. A forgotten `await` on an approval acts before anyone has answered.

/** Returns the questions that people see, that the procedure leaves open, and that were not reported yet. */
export function unreadQuestions(
  { claimed, continuation: { notes }, services: { remarks } }: RunState,
  left: readonly Pending<ProcedureOperation>[],
): readonly Pending<ProcedureOperation>[] {
  if (left.length === 0) return left
  return left.filter(
    ({ position, operation }) =>
      notes.isAsked(position) && remarks.isNew(subjectOf(claimed.procedure, operation.name, position)),
  )
}

/** Finds where the code asks them, by a replay for each. */
export async function placesOf(
  { services, replayed }: RunState,
  questions: readonly Pending<ProcedureOperation>[],
): Promise<readonly UnreadQuestion[]> {
  const found: UnreadQuestion[] = []
  for (const { position, operation } of questions)
    found.push({ name: operation.name, position, at: await findCallSite(services, replayed, position) })
  return found
}

/** Logs the questions, each of them once, however many runs leave it open. */
export function warnOfUnread({ id, claimed, services, unread }: RunState, what: string): void {
  for (const { name, position, at } of unread)
    services.remarks.warn(
      subjectOf(claimed.procedure, name, position),
      `Run "${id}" has ${what} while its question "${name}"${at === '' ? '' : ` at ${at}`} was open, so no answer to it counts. Add the missing await, or ask it in a branch of ctx.race`,
      { run: id, ...(at === '' ? {} : { at }) },
    )
}

function subjectOf(procedure: string, name: string, position: number): string {
  return `open question ${name} at ${position} of ${procedure}`
}
