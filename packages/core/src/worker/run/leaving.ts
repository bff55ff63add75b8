import { isUnread, LogDamaged } from '../../events/codec.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import type { WorkerServices } from '../services.ts'
import { parkWithError, quarantinedFor, type Reason, unreadFor } from './park-with-error.ts'

/** The parts of a run that leaving uses. */
export interface LeavingRun {
  readonly key: RunKey
  readonly id: string
  readonly procedure: string
  readonly isOver: () => boolean
  readonly epoch: () => number
  /** The number up to which its messages are known. */
  readonly seen: () => number
  /** Drops everything; the run has no effect from then on. */
  readonly onLeaving: () => void
  readonly onGone: () => void
}

/**
 * Handles a run that cannot be executed here. Problems of its own data affect only this run: it is parked with the
 * error, and other runs, whose units may be in the same transaction, continue.
 */
export class Leaving {
  readonly #services: WorkerServices
  readonly #run: LeavingRun
  #callOff: () => void = () => {}

  constructor(services: WorkerServices, run: LeavingRun) {
    this.#services = services
    this.#run = run
  }

  /** Awaits a task and parks the run if it throws. */
  attempt(task: Promise<void>): void {
    task.catch((error) => this.leaveBroken(error, 'an event or a message'))
  }

  /** Parks the run because its data are damaged, a later version wrote them, or Pawl fails on them. */
  leaveBroken(error: unknown, what: string): void {
    const { id } = this.#run
    if (error instanceof LogDamaged) return this.leave(quarantinedFor(id, error.message))
    if (isUnread(error)) return this.leave(unreadFor(id, what, error))
    const why = `internal error while processing the run: ${(error as Error).message}`
    this.leave(quarantinedFor(id, why, 'fault', error))
  }

  /** Parks the run because the store lacks messages that this continuation knows, for example after a failover. */
  leaveForgotten(): void {
    this.leave(quarantinedFor(this.#run.id, 'the store has lost messages that it acknowledged'))
  }

  leave(reason: Reason): void {
    const { key, id, procedure, isOver, epoch, seen, onLeaving, onGone } = this.#run
    if (isOver()) return
    onLeaving()
    const run = { key, id, procedure, epoch: epoch(), seen: seen() }
    this.#callOff = parkWithError(this.#services, run, reason, onGone)
  }

  /** Stops trying to mark it. */
  stop(): void {
    this.#callOff()
  }
}
