import type { RunKey, WorkerKey } from '@pawl/core/storage'
import type { RunRecord, Tables } from '../tables.ts'

export function holdMail(
  tables: Tables,
  worker: WorkerKey,
  key: RunKey,
  epoch: number,
  until: number,
): number | null {
  const run = tables.runsByKey.get(key)
  if (!run || run.worker !== worker || run.epoch !== epoch || run.state !== 'live') return null
  run.wakeAt = until
  return run.mail
}

/** Whether a live run holds messages back: the time when an owned run would be due means nothing else. */
export function isHolding({ worker, wakeAt }: RunRecord, now: number): boolean {
  return worker !== null && wakeAt !== null && wakeAt > now
}
