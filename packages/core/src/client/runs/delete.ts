import { recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { EndedPayload, WatchPayload } from '../../events/payloads.ts'
import { nextRound } from '../../host/rounds.ts'
import type { RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { Connection } from '../connection.ts'
import { readViews } from '../views/read.ts'
import { findRow } from './find.ts'

/** Maximum rows of a table that one transaction deletes. */
const clearSize = 2_000

/** Deletes an ended or quarantined run. @throws PawlError 'run-live', 'run-not-found' */
export async function deleteRun(connection: Connection, id: string): Promise<void> {
  const store = await connection.store()
  const row = await findRow(connection, id)
  if (row.mark === 'quarantined' && !row.owned) await tellWaiting(connection, store, row)
  const [removed] = await store.remove([row.run])
  if (removed === 'live') {
    const [view] = await readViews(connection, [row])
    throw new PawlError('run-live', { run: id, status: view?.status ?? 'running' })
  }
  if (removed === 'missing') throw new PawlError('run-not-found', { run: id })
  while (await store.clear(clearSize)) await nextRound()
}

/** Tells the runs that wait for the end of a quarantined run that it will never come. */
async function tellWaiting(connection: Connection, store: StorePort, row: RunRow): Promise<void> {
  const watchers = (await store.mail(row.run, 0)).filter(({ kind }) => kind === 'watch')
  const waiting = [
    ...(row.parent === null ? [] : [row.parent]),
    ...watchers.flatMap(({ payload }) => readWatch(payload)),
  ]
  if (waiting.length === 0) return
  const error = new PawlError('run-quarantined', { run: row.id, reason: 'it was deleted' })
  const ended: EndedPayload = { run: row.id, state: 'failed', failure: recordFailure(error) }
  const payload = encodeRecord(ended, 'end of a run')
  const messages = waiting.map(({ run, position }) => ({
    ...({ run, kind: 'ended', name: String(position), key: null, payload } as const),
  }))
  const sent = await store.send(messages, null)
  for (const one of sent) if (one.outcome === 'stored') connection.localWorker?.onMail(one.run, one.message)
}

/** A damaged one names no run. */
function readWatch(payload: Uint8Array | null): readonly WatchPayload[] {
  try {
    return [decode(payload) as WatchPayload]
  } catch {
    return []
  }
}
