/** Whether a procedure is one of Pawl itself, such as the delivery of an ask to a channel. */
export function isBuiltIn(procedure: string): boolean {
  return procedure.startsWith('pawl.')
}

/** The first characters of the ids of such runs. */
export const reservedIds: readonly string[] = ['pawl.', 'hook:', 'notify:']

/** Whether ids like this one belong to the runs of built-in procedures: who has such an id decides what is delivered. */
export function isReservedId(id: string): boolean {
  return reservedIds.some((prefix) => id.startsWith(prefix))
}
