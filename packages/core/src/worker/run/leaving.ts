import { isUnread, LogDamaged } from '../../events/codec.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { WorkerServices } from '../services.ts'
import { parkWithError, quarantinedFor, type Reason, unreadFor } from './park-with-error.ts'

/** What leaving needs of its run. */
export interface LeavingRun {
  readonly key: RunKey
  readonly id: string
  readonly procedure: string
  readonly isOver: () => boolean
  readonly epoch: () => number
  /** Drops everything. From here on nothing that the run does counts. */
  readonly onLeaving: () => void
  readonly onGone: () => void
}

/**
 * How a run is left that cannot be executed here. What its own data lead to is its affair alone: it is parked with
 * the error, and its neighbours, whose units may be in the same transaction, go on.
 */
export class Leaving {
  readonly #services: WorkerServices
  readonly #run: LeavingRun
  #callOff: () => void = () => {}

  constructor(services: WorkerServices, run: LeavingRun) {
    this.#services = services
    this.#run = run
  }

  /** Waits for a task; whatever it throws parks the run. */
  attempt(task: Promise<void>): void {
    task.catch((error) => this.leaveBroken(error, 'an event or a message'))
  }

  /** Leaves it for data that are damaged, that a later version wrote, or that Pawl itself fails on. */
  leaveBroken(error: unknown, what: string): void {
    const { id } = this.#run
    if (error instanceof LogDamaged) return this.leave(quarantinedFor(id, error.message))
    if (isUnread(error)) return this.leave(unreadFor(id, what, error))
    const why = `it cannot be gone on with: ${(error as Error).message}`
    this.leave(quarantinedFor(id, why, 'fault', error))
  }

  /** A standby that was behind has taken over, for one: the store lacks what this continuation knows. */
  leaveForgotten(): void {
    this.leave(quarantinedFor(this.#run.id, 'the store has lost messages that it acknowledged'))
  }

  leave(reason: Reason): void {
    const { key, id, procedure, isOver, epoch, onLeaving, onGone } = this.#run
    if (isOver()) return
    onLeaving()
    this.#callOff = parkWithError(this.#services, { key, id, epoch: epoch(), procedure }, reason, onGone)
  }

  /** Gives up marking it. */
  stop(): void {
    this.#callOff()
  }
}
