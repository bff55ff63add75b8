import { sealDecisions } from '../../asks/seal-decisions.ts'
import { readOptions } from '../../checks/spec.ts'
import { recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { EndedPayload, WatchPayload } from '../../events/payloads.ts'
import { nextRound } from '../../host/rounds.ts'
import { concernOf } from '../../ports/concerns.ts'
import { findHolder } from '../../ports/held-runs.ts'
import type { RemovalStore, Removed } from '../../ports/store/removals.ts'
import type { EndState, RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { isNote } from '../../runs/imported-children.ts'
import { actOptions } from '../act-options.ts'
import type { Connection } from '../connection.ts'
import { findRow } from '../find-run.ts'
import { observeAct } from '../observed.ts'
import { readViews } from '../views/read.ts'

/** Maximum rows of a table that one transaction deletes. */
const clearSize = 2_000

/** Deletes an ended or quarantined run. @throws PawlError 'run-live', 'run-not-found' */
export function deleteRun(connection: Connection, id: string, given: unknown): Promise<void> {
  const { by } = readOptions('of delete', given, actOptions)
  return observeAct(connection, { verb: 'delete', run: id, by }, () => removeRun(connection, id))
}

async function removeRun(connection: Connection, id: string): Promise<void> {
  const store = await connection.store()
  const removals = concernOf(store, 'removals')
  for (;;) {
    const row = await findRow(connection, id)
    if (row.state !== 'live') await refuseHeld(store, row)
    const removed = isQuarantined(row)
      ? await removeQuarantined(connection, store, removals, row)
      : await remove(removals, row)
    if (removed === 'removed') {
      connection.localWorker?.onRemoved(row.run)
      await sealDecisions(removals, connection.sha256, row)
      break
    }
    if (removed === 'missing') throw new PawlError('run-not-found', { run: id })
    // Otherwise its mark has changed since it was read.
    if (removed === 'live' && !isQuarantined(await findRow(connection, id))) {
      const [view] = await readViews(connection, [row])
      throw new PawlError('run-live', { run: id, status: view?.status ?? 'running' })
    }
  }
  while (await removals.clear(clearSize)) await nextRound()
}

/** @throws PawlError 'run-live' (a live run may still ask for its result) */
async function refuseHeld(store: StorePort, row: RunRow): Promise<void> {
  const holder = await findHolder(store, row)
  if (holder === null) return
  const status = row.state as EndState
  throw new PawlError(
    'run-live',
    { run: row.id, status, parent: holder },
    {
      what: `Run ${row.id} cannot be deleted while its parent ${holder} is live and may ask for its result.`,
      remedy: 'Delete it once the parent has ended.',
    },
  )
}

function isQuarantined({ state, mark, owned }: RunRow): boolean {
  return state === 'live' && mark === 'quarantined' && !owned
}

async function remove(removals: RemovalStore, { run }: RunRow): Promise<Removed> {
  const [removed] = await removals.remove([run])
  return removed ?? 'missing'
}

/** Removes the run, and tells the runs that wait for its end that it will never come. */
async function removeQuarantined(
  connection: Connection,
  store: StorePort,
  removals: RemovalStore,
  { run, id, mail, parent }: RunRow,
): Promise<Exclude<Removed, 'live'> | 'changed'> {
  const watchers = (await store.mail.list(run, 0)).filter((one) => one.kind === 'watch' && !isNote(one))
  const waiting = [
    ...(parent === null ? [] : [parent]),
    ...watchers.flatMap(({ payload }) => readWatch(payload)),
  ]
  const error = new PawlError('run-quarantined', { run: id, reason: 'it was deleted' })
  const ended: EndedPayload = { run: id, state: 'failed', failure: recordFailure(error) }
  const payload = encodeRecord(ended, 'end of a run')
  const messages = waiting.map(({ run, position }) => ({
    ...({ run, kind: 'ended', name: String(position), key: null, by: null, payload, must: false } as const),
  }))
  const removed = await removals.removeQuarantined({ run, seen: mail, messages })
  if (removed === 'removed' && waiting.length > 0) connection.localWorker?.onDue()
  return removed
}

/** A damaged one names no run. */
function readWatch(payload: Uint8Array | null): readonly WatchPayload[] {
  try {
    return [decode(payload) as WatchPayload]
  } catch {
    return []
  }
}
