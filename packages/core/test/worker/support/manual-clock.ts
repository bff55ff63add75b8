import type { Clock } from '../../../src/ports/clock.ts'

interface Timer {
  readonly at: number
  readonly callback: () => void
}

/** A clock that a test moves. */
export class ManualClock implements Clock {
  #now = 0
  readonly #timers = new Set<Timer>()

  elapsed(): number {
    return this.#now
  }

  wall(): number {
    return this.#now
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    return () => void this.#timers.delete(timer)
  }

  /** How many timers are set. */
  get timers(): number {
    return this.#timers.size
  }

  /** Fires what is due within the next `ms`, each at its time, and lets what it began settle. */
  async pass(ms: number): Promise<void> {
    const end = this.#now + ms
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#now = next.at
      next.callback()
      await settled()
    }
    this.#now = end
  }
}

/** Resolves after all microtasks, and some rounds of the event loop. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 3; round++) await new Promise((resolve) => setImmediate(resolve))
}
