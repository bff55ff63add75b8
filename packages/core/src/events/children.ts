import type { LogEvent } from './event.ts'
import type { Generation } from './generation.ts'
import { decode } from './payload.ts'
import type { CreatedPayload, RetriedChild } from './payloads.ts'

// Which runs end with the run that has created them.

/** Returns the id of the run that an event creates. */
export function createdBy(event: LogEvent): string | undefined {
  const created = readCreated(event)
  return created?.existed === true ? undefined : created?.id
}

/** Returns the id of the run that an event creates, if that run ends with its parent. */
export function childIn(event: LogEvent): string | undefined {
  const created = readCreated(event)
  return created?.detached === true || created?.existed === true ? undefined : created?.id
}

function readCreated({ type, kind, failed, payload }: LogEvent): CreatedPayload | undefined {
  const creates = type === 'created' || (type === 'settled' && kind === 'spawn' && !failed)
  return creates ? (decode(payload) as CreatedPayload) : undefined
}

/** Returns the ids of the runs of earlier generations that end with a run, and of the runs that its events create. */
export function childrenOf(
  { children = [], retried = [] }: Pick<Generation, 'children' | 'retried'>,
  events: readonly LogEvent[],
): ReadonlySet<string> {
  const created = events.flatMap((event) => childIn(event) ?? [])
  return new Set([...children, ...retried.map(({ id }) => id), ...created])
}

/**
 * Returns the children whose operations a retried run may issue again: it has not kept their results. `events`: those of the
 * generation that is retried.
 */
export function createdBeforeRetry(
  { createdBefore = [], retried = [] }: Pick<Generation, 'createdBefore' | 'retried'>,
  events: readonly LogEvent[],
  kept: readonly LogEvent[],
): readonly RetriedChild[] {
  const settled = new Set(kept.flatMap(({ type, position }) => (type === 'settled' ? position : [])))
  const created = events.flatMap((event) => {
    const id = createdBy(event)
    return id === undefined ? [] : { id, position: event.position }
  })
  const byId = new Map<string, RetriedChild>()
  for (const child of [...createdBefore, ...retried, ...created])
    if (child.position !== null && !settled.has(child.position)) byId.set(child.id, child)
  return [...byId.values()]
}

/** Returns the reason with which the end of a run cancels its children. By it a retry of the run knows which ones to continue. */
export function reasonOfEnd(run: string): string {
  return `run ${run} has ended`
}
