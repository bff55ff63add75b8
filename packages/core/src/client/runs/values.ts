import type { LogEvent } from '../../events/event.ts'
import { decode } from '../../events/payload.ts'
import { readStarted } from '../../events/read-started.ts'
import { type KnownRun, understand } from '../../ports/rows.ts'
import type { Connection } from '../connection.ts'
import type { ExposedValue, RunValues } from '../views/views.ts'

/** Maximum size of a value that is shown with its run, in bytes as stored. `result`, `state` and an export have larger ones. */
const maxShown = 64 * 1024

/**
 * Reads what a run was given, exposes and has returned.
 * @param ended the event that ended it, verified; undefined while it is live
 * @throws PayloadCorrupt, RowCorrupt, WrittenLater
 */
export async function readValues(
  connection: Connection,
  { run, base, state }: KnownRun,
  ended: LogEvent | undefined,
): Promise<RunValues> {
  const store = await connection.store()
  const [[started], rows] = await Promise.all([store.log.load(run, base, 1), store.states.list(run, null)])
  const omitted: string[] = []
  const shown = (name: string, payload: Uint8Array | null, read: () => unknown): unknown => {
    if ((payload?.length ?? 0) <= maxShown) return understand(read)
    omitted.push(name)
    return undefined
  }
  const exposed = rows.map(({ name, at, payload }): ExposedValue => {
    const value = shown(`exposed.${name}`, payload, () => decode(payload))
    return { name, at: new Date(at), value }
  })
  return {
    input: started && shown('input', started.payload, () => readStarted(started).input),
    output:
      state === 'completed' && ended !== undefined
        ? shown('output', ended.payload, () => decode(ended.payload))
        : undefined,
    exposed,
    omitted,
  }
}
