import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent, NewEvent } from '../../events/event.ts'
import { firstGeneration, generationIn } from '../../events/generation.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { GenerationPayload, RunInfo, StartedPayload } from '../../events/payloads.ts'
import { readStarted } from '../../events/read-started.ts'
import { LogHash } from '../../events/seal.ts'
import { type KnownRun, readRun, understand } from '../../ports/rows.ts'
import { forkFamilyOf } from '../../runs/fork-family.ts'
import type { UnhashedRun } from '../../runs/new-run.ts'
import type { Connection } from '../connection.ts'
import { readLogPages } from '../log/pages.ts'
import { explainUnread, hasOutrun } from '../unread.ts'

/**
 * Starts a run again that has ended, as its next generation. One that is live stays as it is. False: there is no such run.
 * @throws PawlError 'id-taken', 'run-quarantined'
 */
export async function restartEnded(connection: Connection, start: UnhashedRun): Promise<boolean> {
  const { id, procedure, version, tags, startedBy } = start
  const store = await connection.store()
  for (;;) {
    const found = await store.runs.find(id)
    if (found === null) return false
    if (found.procedure !== procedure) throw takenByAnother(id)
    try {
      const row = understand(() => readRun(found))
      if (row.state === 'live') return true
      const ended = await readEnded(connection, row)
      const started = inPlaceOf(id, start.started, ended)
      const hash = new LogHash(connection.sha256, row.link, row.head, row.head)
      hash.add(started)
      const info: RunInfo = { waiting: [], generation: ended.next.number }
      const restarted = await store.runs.restart([
        {
          ...{ run: row.run, head: row.head, version, started, link: hash.link(), tags, startedBy },
          info: encodeRecord(info, 'info'),
          kept: null,
        },
      ])
      if (restarted) break
    } catch (error) {
      if (!(await hasOutrun(store, found, error))) throw explainUnread(id, `Run ${id}`, error)
    }
    // It has started again since it was read, or was deleted.
  }
  connection.localWorker?.onRestarted(id)
  return true
}

interface Ended {
  readonly origin: StartedPayload
  readonly next: GenerationPayload
}

/** Verifies the generation that has ended, and counts its positions: no two asks of a run share one. */
async function readEnded(connection: Connection, row: KnownRun): Promise<Ended> {
  const store = await connection.store()
  let origin: StartedPayload | undefined
  let generation = firstGeneration
  let firstPosition = 0
  for await (const page of readLogPages(store, connection.sha256, row)) {
    if (origin === undefined) {
      const [first] = page as readonly [LogEvent]
      origin = readStarted(first)
      generation = generationIn(origin, first)
      firstPosition = generation.firstPosition
    }
    for (const { position } of page) firstPosition = Math.max(firstPosition, position + 1)
  }
  const next: GenerationPayload = {
    number: generation.number + 1,
    why: 'again',
    previous: row.link,
    previousBase: row.base,
    firstPosition,
  }
  return { origin: origin as StartedPayload, next }
}

/** The first event of the next generation. In the family of a fork it stays apart from the runs of the original. */
function inPlaceOf(id: string, started: NewEvent, { origin, next }: Ended): NewEvent {
  const family = forkFamilyOf(id, origin)
  const payload: StartedPayload = {
    ...(decode(started.payload) as StartedPayload),
    generation: next,
    ...(family === null ? {} : { family }),
  }
  return { ...started, payload: encodeRecord(payload, 'input') }
}

export function takenByAnother(id: string): PawlError {
  return new PawlError(
    'id-taken',
    { id },
    { what: `Run ${id} already exists, with another procedure.`, remedy: 'Use a different id.' },
  )
}
