import type { Clock } from '@pawl/core/internal'

interface Timer {
  readonly at: number
  readonly callback: () => void
  readonly background: boolean
}

/** Time that passes only when it is told to. */
export class VirtualClock {
  readonly #startedAt: number
  #now: number
  /** In the order they were set. */
  readonly #timers = new Set<Timer>()

  /** `now` in ms since 1970. */
  constructor(now: number) {
    this.#startedAt = now
    this.#now = now
  }

  get now(): number {
    return this.#now
  }

  /** When the next timer is due that somebody waits for; null if there is none. */
  get nextAt(): number | null {
    let next: number | null = null
    for (const { at, background } of this.#timers) if (!background && (next === null || at < next)) next = at
    return next
  }

  /** Jumps to `at`, and then fires, once each, what is due by then: the longest due first. */
  moveTo(at: number): void {
    this.#now = Math.max(this.#now, at)
    const due = [...this.#timers].filter((timer) => timer.at <= this.#now).sort((a, b) => a.at - b.at)
    for (const timer of due) if (this.#timers.delete(timer)) timer.callback()
  }

  /** This clock as one process sees it, whose timers can be called off at once. */
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
