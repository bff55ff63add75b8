import type { RunKey, WorkerKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type HoldMail = (worker: WorkerKey, run: RunKey, epoch: number, until: number) => number | null

/** SQL: whether a run holds messages back: the time when an owned run would be due means nothing else. */
export const isHolding = 'worker is not null and wake_at is not null and wake_at > ?'

export function prepareHoldMail(database: Database): HoldMail {
  const hold = database
    .prepare<unknown[], number>(
      'update runs set wake_at = ? where run = ? and epoch = ? and worker = ? and state = 0 returning mail',
    )
    .pluck()
  return (worker, run, epoch, until) => hold.get(until, run, epoch, worker) ?? null
}
