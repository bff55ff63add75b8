import { type Mark, markCode, type QuarantineCause, type RunKey, type WorkerKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { FeedWrites } from './feed.ts'

export type SetMark = (
  worker: WorkerKey,
  run: RunKey,
  epoch: number,
  mark: Exclude<Mark, 'none'>,
  reason: Uint8Array,
  cause: QuarantineCause | undefined,
  seen: number | undefined,
  wakeAt: number | undefined,
  at: number,
) => boolean

/** Sets a marked run due. Removes the mark if the run is quarantined. */
export type Retry = (run: RunKey, mark: Exclude<Mark, 'none'>, at: number) => boolean

export function prepareRetry(database: Database): Retry {
  const isMarked = 'where run = ? and mark = ? and state = 0 and worker is null'
  const wakeAt = 'wake_at = min(coalesce(wake_at, ?), ?)'
  const retry = database.prepare(`update runs set ${wakeAt} ${isMarked}`)
  const release = database.prepare(`update runs set ${wakeAt}, mark = 0, tries = 0 ${isMarked}`)
  return (run, mark, at) => {
    const statement = mark === 'quarantined' ? release : retry
    return statement.run(at, at, run, markCode.numberOf[mark]).changes === 1
  }
}

export function prepareMark(database: Database, feed: FeedWrites): SetMark {
  const park = database.prepare(
    `update runs set worker = null, wake_at = iif(mail > ?, ?, ?), epoch = epoch + 1, mark = ?
     where run = ? and epoch = ? and worker = ? and state = 0`,
  )
  const saveReason = database.prepare('update run_info set reason = ?, cause = ? where run = ?')
  return (worker, run, epoch, mark, reason, cause, seen, wakeAt, at) => {
    const upTo = mark === 'stuck' ? (seen ?? null) : null
    if (park.run(upTo, at, wakeAt ?? null, markCode.numberOf[mark], run, epoch, worker).changes === 0)
      return false
    saveReason.run(reason, cause ?? null, run)
    feed.tell(mark === 'stuck' ? 'run-stuck' : 'run-quarantined', run, null, at)
    return true
  }
}
