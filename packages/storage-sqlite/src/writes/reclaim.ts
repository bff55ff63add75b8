import type { Unit, UnitOutcome, WorkerKey } from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'

/** Finds out what became of a unit whose commit broke off; `raises`: how many attempts at this may have raised the epoch before. */
export type Reclaim = (worker: WorkerKey, unit: Unit, raises: number, now: number) => UnitOutcome

/**
 * The epoch is raised before the head is looked at. From then on the unit either has landed or never can,
 * even if what broke off is still on its way to the disk. That it cannot be seen would prove nothing.
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
    // The time of its commit, not of this: a replay reads it in the log.
    const landedAt = (): number => (events.length === 0 ? now : (readTime.get(run, after - 1) ?? now))
    const raised = raise.get(run, worker, epoch, epoch + raises)
    if (raised) {
      // A unit without events that kept the run cannot be told from one that never came; both are well served by 'lost'.
      const hasLanded = events.length > 0 && raised.head === after
      if (!hasLanded) return { outcome: 'lost', epoch: raised.epoch }
      return { outcome: 'ok', at: landedAt(), epoch: raised.epoch, mail: raised.mail, parked: false }
    }
    // Let go by this very unit: nobody has claimed the run since, or the epoch would be another.
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

/** A run that a worker was given in a transaction of which nobody knows whether it came about. */
export interface Grant {
  readonly id: string
  readonly worker: WorkerKey
  readonly epoch: number
}

/** Hands the run back, due at once, if the worker owns it by that grant. */
export type Disown = (grant: Grant, at: number) => void

export function prepareDisown(database: Database): Disown {
  const handBack = database.prepare(
    'update runs set worker = null, epoch = epoch + 1, wake_at = ? where id = ? and worker = ? and epoch = ?',
  )
  return ({ id, worker, epoch }, at) => {
    handBack.run(at, id, worker, epoch)
  }
}
