import type { Mark, QuarantineCause, RunKey, WorkerKey } from '@pawl/core/storage'
import { tell } from '../feed.ts'
import { copy, type Tables } from '../tables.ts'

export function setMark(
  tables: Tables,
  worker: WorkerKey,
  key: RunKey,
  epoch: number,
  mark: Exclude<Mark, 'none'>,
  reason: Uint8Array,
  cause: QuarantineCause | undefined,
  seen: number | undefined,
  dueAt: number | undefined,
  at: number,
): boolean {
  const run = tables.runsByKey.get(key)
  if (!run || run.worker !== worker || run.epoch !== epoch) return false
  const isBehind = mark === 'stuck' && seen !== undefined && run.mail > seen
  const wakeAt = isBehind ? at : (dueAt ?? null)
  Object.assign(run, {
    worker: null,
    wakeAt,
    epoch: epoch + 1,
    mark,
    reason: copy(reason),
    cause: cause ?? null,
  })
  tell(tables, mark === 'stuck' ? 'run-stuck' : 'run-quarantined', run, null, at)
  return true
}

export function retryRun(tables: Tables, key: RunKey, mark: Exclude<Mark, 'none'>, now: number): boolean {
  const run = tables.runsByKey.get(key)
  if (!run || run.mark !== mark || run.worker !== null) return false
  run.wakeAt = Math.min(run.wakeAt ?? now, now)
  if (mark === 'quarantined') Object.assign(run, { mark: 'none', tries: 0 })
  return true
}
