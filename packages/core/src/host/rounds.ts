import { setImmediateNative } from './natives.ts'

// What takes long is done in slices, with a round of the event loop between two of them: timers, sockets and other runs
// are served meanwhile. Slices are counted, not timed, so that a test or a simulation meets the same ones each time.

/** Resolves in the next round of the event loop. */
export function nextRound(): Promise<void> {
  return new Promise((resolve) => setImmediateNative(() => resolve()))
}

/** Admits at most so many callers in one round of the event loop; the others follow in later rounds, in order. */
export class RoundLimiter {
  readonly #max: number
  #admitted = 0
  #isScheduled = false
  #waiting: (() => void)[] = []

  constructor(max: number) {
    this.#max = max
  }

  /** Undefined: admitted in this very call. Otherwise resolves in the round that admits the caller. */
  enter(): Promise<void> | undefined {
    if (this.#admitted < this.#max) {
      this.#admit()
      return undefined
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  #admit(): void {
    this.#admitted++
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediateNative(() => this.#beginRound())
  }

  #beginRound(): void {
    this.#isScheduled = false
    this.#admitted = 0
    for (const resolve of this.#waiting.splice(0, this.#max)) {
      this.#admit()
      resolve()
    }
  }
}
