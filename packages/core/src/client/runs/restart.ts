import { PawlError } from '../../errors/pawl-error.ts'
import type { NewEvent } from '../../events/event.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { GenerationPayload, RunInfo, StartedPayload } from '../../events/payloads.ts'
import { LogHash } from '../../events/seal.ts'
import { type KnownRun, readRun, understand } from '../../ports/rows.ts'
import type { UnhashedRun } from '../../runs/new-run.ts'
import type { Connection } from '../connection.ts'
import { readGeneration, readLogPages } from '../log/pages.ts'
import { explainUnread, hasOutrun } from '../unread.ts'

/**
 * Starts a run again that has ended, as its next generation. One that is live stays as it is. False: there is no such run.
 * @throws PawlError 'id-taken', 'run-quarantined'
 */
export async function restartEnded(connection: Connection, start: UnhashedRun): Promise<boolean> {
  const { id, procedure, version, tags, startedBy } = start
  const store = await connection.store()
  for (;;) {
    const found = await store.find(id)
    if (found === null) return false
    if (found.procedure !== procedure) throw takenByAnother(id)
    try {
      const row = understand(() => readRun(found))
      if (row.state === 'live') return true
      const generation = await nextGeneration(connection, row)
      const started = withGeneration(start.started, generation)
      const hash = new LogHash(connection.sha256, row.link, row.head, row.head)
      hash.add(started)
      const info: RunInfo = { waiting: [], generation: generation.number }
      const restarted = await store.restart([
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

/** Verifies the generation that has ended, and counts its positions: no two asks of a run share one. */
async function nextGeneration(connection: Connection, row: KnownRun): Promise<GenerationPayload> {
  const store = await connection.store()
  const { number, firstPosition } = await readGeneration(store, row)
  let next = firstPosition
  for await (const page of readLogPages(store, connection.sha256, row))
    for (const { position } of page) next = Math.max(next, position + 1)
  return {
    number: number + 1,
    why: 'again',
    previous: row.link,
    previousBase: row.base,
    firstPosition: next,
  }
}

function withGeneration(started: NewEvent, generation: GenerationPayload): NewEvent {
  const payload: StartedPayload = { ...(decode(started.payload) as StartedPayload), generation }
  return { ...started, payload: encodeRecord(payload, 'input') }
}

export function takenByAnother(id: string): PawlError {
  return new PawlError(
    'id-taken',
    { id },
    { what: `Run ${id} already exists, with another procedure.`, remedy: 'Use a different id.' },
  )
}
