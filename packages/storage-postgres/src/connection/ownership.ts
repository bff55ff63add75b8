import type { RunKey, WorkerKey } from '@pawl/core/storage'

/** The worker is told that it owns the run. */
export type NoteOwned = (worker: WorkerKey, run: RunKey, epoch: number) => void

interface Owned {
  /** The runs the engine knows it owns. */
  readonly known: Map<RunKey, number>
  /** Runs that are this worker's in the database and that the engine was not told about, with the epoch seen. */
  readonly unacknowledged: Map<RunKey, { readonly epoch: number; readonly call: number }>
}

/**
 * Which runs the engine was told it owns. A claim whose reply got lost leaves runs that are owned by a worker
 * that does not know it: they would wait until that worker dies. What the database has for a worker is
 * compared with what the engine was told, and what is missing is handed over by the next claim.
 */
export class Ownership {
  readonly #workers = new Map<WorkerKey, Owned>()
  /** Workers that own nothing any more, whatever a call may still bring. */
  readonly #gone = new Set<WorkerKey>()
  /** Runs with a commit at work, or with one whose outcome is not known yet: they are not claimed. */
  readonly #busy = new Map<RunKey, number>()
  /** Calls that may give ownership, by number, that have not returned. */
  readonly #calls = new Set<number>()
  #lastCall = 0
  /** A call has failed that may have given ownership before it did. */
  #isInDoubt = false

  /**
   * Runs `call`, which may end in owning the runs it notes. They count when it has returned: a call that fails
   * half-way has told the engine of none.
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

  /** The worker is dead, or is stopping. */
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

  /** Whether the engine may own runs that it was not told of. */
  get isInDoubt(): boolean {
    return this.#isInDoubt
  }

  /** What the database says the worker owns. */
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

  /** Strays no call that is still at work can account for: the engine will never hear of them. */
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
