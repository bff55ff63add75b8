import { type Mark, markCode, type RunKey, type WorkerKey } from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'

export type SetMark = (
  worker: WorkerKey,
  run: RunKey,
  epoch: number,
  mark: Exclude<Mark, 'none'>,
  reason: Uint8Array,
) => boolean

export function prepareMark(database: Database): SetMark {
  const park = database.prepare(
    `update runs set worker = null, wake_at = null, epoch = epoch + 1, mark = ?
     where run = ? and epoch = ? and worker = ? and state = 0`,
  )
  const saveReason = database.prepare('update run_info set reason = ? where run = ?')
  return (worker, run, epoch, mark, reason) => {
    if (park.run(markCode.numberOf[mark], run, epoch, worker).changes === 0) return false
    saveReason.run(reason, run)
    return true
  }
}
