import { inRootContext, setImmediateNative } from './natives.ts'

// Work that is ready at once is done in slices, over several rounds of the event loop, so that timers, sockets and other
// runs are served in between. Slices are counted, not timed: a test or a simulation gets the same slices each time.

/** Maximum work in one round, in rows. Writing a row takes about 5 µs, with everything that belongs to it. */
const maxWork = 1_000
/** Less work than this may count for a later round too: a round that only starts the count again costs more. */
const maxCarried = maxWork / 2

/** A slice of work that waits for its round. */
export interface Task {
  /** Estimates the slice, in rows. */
  weigh(): number
  /** Does the slice and returns its actual rows. */
  run(): number
}

/**
 * Shares each round of the event loop among all slices. A round has room for a fixed amount of work; tasks that do not
 * fit run in later rounds, in order.
 */
export class Rounds {
  #done = 0
  #isScheduled = false
  #isRunning = false
  readonly #waiting: Task[] = []
  readonly #onRound = (): void => this.#begin()
  readonly #request = (): void => {
    this.#isScheduled = true
    setImmediateNative(this.#onRound)
  }

  /**
   * Runs the task in the next round that has room for it, outside every AsyncLocalStorage. A task larger than a round
   * gets a round of its own.
   */
  add(task: Task): void {
    this.#waiting.push(task)
    this.#schedule()
  }

  /** Returns undefined if the current round has room for `work`; otherwise resolves in the round that has. */
  enter(work: number): Promise<void> | undefined {
    if (!this.#hasRoomFor(work)) return this.#waitFor(work)
    this.#done += work
    if (this.#done > maxCarried) this.#schedule()
    return undefined
  }

  #waitFor(work: number): Promise<void> {
    return new Promise((resolve) => {
      const run = (): number => {
        resolve()
        return work
      }
      this.add({ weigh: () => work, run })
    })
  }

  #hasRoomFor(work: number): boolean {
    return this.#done === 0 || this.#done + work <= maxWork
  }

  #schedule(): void {
    // A round in progress requests the next one itself.
    if (!this.#isScheduled && !this.#isRunning) inRootContext(this.#request)
  }

  #begin(): void {
    this.#isScheduled = false
    this.#done = 0
    this.#isRunning = true
    try {
      this.#runWaiting()
    } finally {
      this.#isRunning = false
    }
    // The next round starts from zero. A round runs in the root context already.
    if (this.#done > maxCarried || this.#waiting.length > 0) this.#request()
  }

  #runWaiting(): void {
    // Tasks that are added meanwhile wait for the next round.
    const end = this.#waiting.length
    let next = 0
    while (next < end) {
      const task = this.#waiting[next] as Task
      if (!this.#hasRoomFor(task.weigh())) break
      next++
      this.#done += runSafely(task)
    }
    this.#waiting.splice(0, next)
  }
}

/** Rethrows an internal error outside this round, so that the other tasks still run. */
function runSafely(task: Task): number {
  try {
    return task.run()
  } catch (error) {
    setImmediateNative(() => {
      throw error
    })
    return 0
  }
}

/** The rounds of this process, shared by all its engines and clients. */
export const rounds: Rounds = new Rounds()

/** Resolves in the next round of the event loop. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediateNative(() => resolve()))
}
