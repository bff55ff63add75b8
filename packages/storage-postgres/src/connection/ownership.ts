import type { RunKey, WorkerKey } from '@pawl/core/storage'

/** Reports to the worker that it owns the run. */
export type NoteOwned = (worker: WorkerKey, run: RunKey, epoch: number) => void

interface Owned {
  /** Runs that the engine knows it owns. */
  readonly known: Map<RunKey, number>
  /** Runs that the database assigns to this worker and that were not reported to the engine, with their epoch. */
  readonly unacknowledged: Map<RunKey, { readonly epoch: number; readonly call: number }>
}

/**
 * Tracks which runs were reported to the engine as owned. A claim whose reply is lost leaves runs that their worker
 * does not know; they would wait until that worker's lease expires. So the database's list for a worker is compared
 * with the reported runs, and the next claim returns the missing ones.
 */
export class Ownership {
  readonly #workers = new Map<WorkerKey, Owned>()
  /** Workers that own no runs any more. Late replies of their calls are ignored. */
  readonly #gone = new Set<WorkerKey>()
  /** Runs with a commit in progress or of unknown outcome. They are not claimed. */
  readonly #busy = new Map<RunKey, number>()
  /** Unfinished calls that may grant ownership, by number. */
  readonly #calls = new Set<number>()
  #lastCall = 0
  /** Whether a failed call may have granted ownership. */
  #isInDoubt = false

  /**
   * Runs `call`, which may grant ownership of the runs it notes. They count once it has returned: a call that fails
   * has reported none to the engine.
   */
  async during<T>(call: (noteOwned: NoteOwned) => Promise<T>): Promise<T> {
    const number = ++this.#lastCall
    this.#calls.add(number)
    const noted: (readonly [WorkerKey, RunKey, number])[] = []
    try {
      const result = await call((worker, run, epoch) => noted.push([worker, run, epoch]))
      for (const [worker, run, epoch] of noted) this.#add(worker, run, epoch)
      return result
    } catch (error) {
      this.#isInDoubt ||= noted.length > 0
      throw error
    } finally {
      this.#calls.delete(number)
    }
  }

  #add(worker: WorkerKey, run: RunKey, epoch: number): void {
    if (this.#gone.has(worker)) return
    const { known, unacknowledged } = this.#of(worker)
    known.set(run, epoch)
    unacknowledged.delete(run)
  }

  remove(worker: WorkerKey, run: RunKey, epoch: number): void {
    const known = this.#workers.get(worker)?.known
    if ((known?.get(run) ?? Number.POSITIVE_INFINITY) <= epoch) known?.delete(run)
  }

  /** Forgets a worker that is dead or stopping. */
  forget(worker: WorkerKey): void {
    this.#gone.add(worker)
    this.#workers.delete(worker)
  }

  owns(run: RunKey): boolean {
    for (const { known } of this.#workers.values()) if (known.has(run)) return true
    return false
  }

  enter(runs: readonly RunKey[]): void {
    for (const run of runs) this.#busy.set(run, (this.#busy.get(run) ?? 0) + 1)
  }

  leave(runs: readonly RunKey[]): void {
    for (const run of runs) {
      const count = (this.#busy.get(run) ?? 0) - 1
      if (count > 0) this.#busy.set(run, count)
      else this.#busy.delete(run)
    }
  }

  busy(): readonly RunKey[] {
    return [...this.#busy.keys()]
  }

  /** Returns whether the worker may own runs that were not reported to the engine. */
  get isInDoubt(): boolean {
    return this.#isInDoubt
  }

  /** Compares the database's list of the worker's runs with the reported ones. */
  compare(worker: WorkerKey, rows: readonly { readonly run: RunKey; readonly epoch: number }[]): void {
    this.#isInDoubt = false
    const { known, unacknowledged } = this.#of(worker)
    const seen = new Map(unacknowledged)
    unacknowledged.clear()
    for (const { run, epoch } of rows) {
      if (known.has(run) || this.#busy.has(run)) continue
      const before = seen.get(run)
      unacknowledged.set(run, before?.epoch === epoch ? before : { epoch, call: this.#lastCall })
    }
  }

  /** Returns unreported runs that no unfinished call can explain: the engine will never hear of them. */
  unacknowledged(worker: WorkerKey): readonly { readonly run: RunKey; readonly epoch: number }[] {
    const oldest = Math.min(...this.#calls, Number.POSITIVE_INFINITY)
    const { known, unacknowledged } = this.#of(worker)
    return [...unacknowledged]
      .filter(([run, { call }]) => oldest > call && !known.has(run))
      .map(([run, { epoch }]) => ({ run, epoch }))
  }

  #of(worker: WorkerKey): Owned {
    const owned = this.#workers.get(worker) ?? { known: new Map(), unacknowledged: new Map() }
    this.#workers.set(worker, owned)
    return owned
  }
}
