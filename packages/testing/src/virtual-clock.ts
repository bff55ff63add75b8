import type { Clock } from '@pawl/core/internal'

interface Timer {
  readonly at: number
  readonly callback: () => void
  readonly background: boolean
}

/** A clock that advances only through `moveTo`. */
export class VirtualClock {
  readonly #startedAt: number
  #now: number
  /** Timers in the order in which they were set. */
  readonly #timers = new Set<Timer>()

  /** @param now in ms since 1970 */
  constructor(now: number) {
    this.#startedAt = now
    this.#now = now
  }

  get now(): number {
    return this.#now
  }

  /** Due time of the next foreground timer, or null if there is none. */
  get nextAt(): number | null {
    let next: number | null = null
    for (const { at, background } of this.#timers) if (!background && (next === null || at < next)) next = at
    return next
  }

  /** Jumps to `at`, then fires every timer that is due by then, once, the earliest first. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at)
    const due = [...this.#timers].filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback()
  }

  /** Returns a view of this clock for one process, whose timers can all be cancelled at once. */
  see(): { readonly clock: Clock; readonly callOffAll: () => void } {
    const own = new Set<Timer>()
    const clock: Clock = {
      elapsed: () => this.#now - this.#startedAt,
      wall: () => this.#now,
      after: (ms, callback, background = false) => {
        const timer = { at: this.#now + ms, callback: () => own.delete(timer) && callback(), background }
        own.add(timer)
        this.#timers.add(timer)
        return () => this.#callOff(own, timer)
      },
    }
    return { clock, callOffAll: () => [...own].map((timer) => this.#callOff(own, timer)) }
  }

  #callOff(own: Set<Timer>, timer: Timer): void {
    own.delete(timer)
    this.#timers.delete(timer)
  }
}
