import type { Actor } from '../../base/people.ts'
import { isUnread } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import { readCancelled } from '../../events/read-cancelled.ts'
import { canExecute } from '../../ports/abilities.ts'
import { readRun, understand } from '../../ports/rows.ts'
import type { RunRow } from '../../ports/store/runs.ts'
import type { StorePort } from '../../ports/store/store.ts'
import type { ProcedureVersions } from '../../ports/store/workers.ts'
import type { Connection } from '../connection.ts'
import { infoOf, isDue, nextPositionAfter, showUnread, toRunView } from './run.ts'
import type { RunView } from './views.ts'

/** The number of events read from the end of a log: enough to find the last operation. */
const tailEvents = 10

/**
 * Returns the public views of runs. An unreadable run is shown as quarantined, with a warning.
 * Reads the abilities of live workers only if a run is due and unowned.
 * @param ended for a single run: the event that ended it, if it was read and verified
 */
export async function readViews(
  connection: Connection,
  rows: readonly RunRow[],
  ended?: LogEvent,
): Promise<readonly RunView[]> {
  const store = await connection.store()
  const now = await store.now()
  const abilities = rows.some((row) => isDue(row, now)) ? await store.workers.abilities() : null
  return Promise.all(
    rows.map(async (row) => {
      try {
        const shown = understand(() => toRunView(connection.askIds, readRun(row), now, ended))
        const view = isRequested(row) ? { ...shown, ...(await readRequest(store, row)) } : shown
        return waitsForWorker(row, now, abilities) ? { ...view, ...(await showWorker(store, row)) } : view
      } catch (error) {
        if (!isUnread(error)) throw error
        return showUnread(connection, row, error)
      }
    }),
  )
}

/** A due run that no worker has claimed for this long waits for a worker, whatever live workers declare. */
const unclaimedMs = 60_000

/** Whether a run is due and no worker has its code, or none has claimed it. */
function waitsForWorker(row: RunRow, now: number, abilities: readonly ProcedureVersions[] | null): boolean {
  if (!isDue(row, now)) return false
  if (now - (row.wakeAt ?? now) >= unclaimedMs) return true
  return abilities !== null && !canExecute(abilities, row.procedure, row.version)
}

async function showWorker(store: StorePort, row: RunRow): Promise<Pick<RunView, 'waitingFor'>> {
  const tail = await store.log.load(row.run, Math.max(row.base, row.head - tailEvents), tailEvents)
  const position = nextPositionAfter(row, tail)
  return {
    waitingFor: [{ kind: 'worker', name: row.procedure, position, ask: undefined, until: undefined }],
  }
}

/** Whether its cancel was requested, and no worker has recorded it yet. */
function isRequested(row: RunRow): boolean {
  return row.cancelAt !== null && row.state === 'live' && infoOf(row).cancelled === undefined
}

/** Returns the reason of a request that waits to be recorded, and who made it. */
async function readRequest(
  store: StorePort,
  { run }: RunRow,
): Promise<Pick<RunView, 'cancelReason' | 'cancelledBy'>> {
  const request = (await store.mail.list(run, 0)).find(({ kind }) => kind === 'cancel')
  const { reason, by } = request === undefined ? {} : readCancelled(request)
  return { cancelReason: reason, cancelledBy: by as Actor | undefined }
}
