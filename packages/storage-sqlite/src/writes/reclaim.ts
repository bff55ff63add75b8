import type { Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

/**
 * Determines the outcome of a unit whose commit failed midway.
 * @param raises number of earlier attempts at this, each of which may have raised the epoch
 */
export type Reclaim = (worker: WorkerKey, unit: Unit, raises: number, now: number) => UnitOutcome

/**
 * Raises the epoch before it reads the head. From then on the unit is either stored or never can be, even if the failed
 * commit is still on its way to the disk. Without the new epoch, a missing event would prove nothing.
 */
export function prepareReclaim(database: Database): Reclaim {
  const raise = database.prepare<unknown[], Raised>(
    'update runs set epoch = epoch + 1 where run = ? and worker = ? and epoch between ? and ? returning epoch, head, mail',
  )
  const readLetGo = database
    .prepare<unknown[], number>(
      'select mail from runs where run = ? and epoch = ? and head = ? and worker is null',
    )
    .pluck()
  const readTime = database
    .prepare<unknown[], number>('select at from events where run = ? and seq = ?')
    .pluck()

  return (worker, unit, raises, now) => {
    const { run, epoch, head, events, next } = unit
    const after = head + events.length
    // The time of its commit and not the current time, because a replay reads it from the log.
    const landedAt = (): number => (events.length === 0 ? now : (readTime.get(run, after - 1) ?? now))
    const raised = raise.get(run, worker, epoch, epoch + raises)
    if (raised) {
      // A unit without events that kept the run looks the same whether it was stored or not. 'lost' is right for both.
      const hasLanded = events.length > 0 && raised.head === after
      if (!hasLanded) return { outcome: 'lost', epoch: raised.epoch }
      return { outcome: 'ok', at: landedAt(), epoch: raised.epoch, mail: raised.mail, parked: false }
    }
    // This unit released the run: no worker has claimed it since, or the epoch would differ.
    const mail = next.do === 'keep' ? undefined : readLetGo.get(run, epoch, after)
    return mail === undefined
      ? { outcome: 'fenced' }
      : { outcome: 'ok', at: landedAt(), epoch, mail, parked: next.do === 'park' }
  }
}

interface Raised {
  readonly epoch: number
  readonly head: number
  readonly mail: number
}

/** A run granted to a worker in a transaction whose outcome is unknown. */
export interface Grant {
  readonly id: string
  readonly worker: WorkerKey
  readonly epoch: number
}

/** Hands the run back, due at once, if the worker owns it through the grant. */
export type Disown = (grant: Grant, at: number) => void

export function prepareDisown(database: Database): Disown {
  const handBack = database.prepare(
    'update runs set worker = null, epoch = epoch + 1, wake_at = ? where id = ? and worker = ? and epoch = ?',
  )
  return ({ id, worker, epoch }, at) => {
    handBack.run(at, id, worker, epoch)
  }
}
