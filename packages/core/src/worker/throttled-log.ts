import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

/** Delay before a repeated error is logged again; it doubles each time. */
const againMs = 1_000
const againMostMs = 60_000

/** Logs a repeated error at once, then at growing intervals, and again on recovery. */
export class ThrottledLog {
  readonly #logger: Logger
  readonly #clock: Clock
  /** The message on recovery. */
  readonly #well: string
  #begunAt: number | null = null
  #lastAt = 0
  #loggedAt = 0
  #pauseMs = againMs
  #suppressed = 0

  /** @param well such as 'Store answers again' */
  constructor(logger: Logger, clock: Clock, well: string) {
    this.#logger = logger
    this.#clock = clock
    this.#well = well
  }

  add(message: string, error: unknown): void {
    const now = this.#clock.elapsed()
    this.#lastAt = now
    if (this.#begunAt === null) {
      this.#begunAt = now
      this.#pauseMs = againMs
      return this.#say(message, error)
    }
    if (now - this.#loggedAt < this.#pauseMs) {
      this.#suppressed++
      return
    }
    this.#pauseMs = Math.min(againMostMs, 2 * this.#pauseMs)
    const more = this.#suppressed === 0 ? '' : `, ${this.#suppressed} more times meanwhile`
    this.#say(`${message} (for ${this.#secondsAt(now)} s now${more})`, error)
  }

  /** Logs the recovery if no error has occurred for `quietMs`. */
  settle(quietMs = 0): void {
    if (this.#begunAt === null || this.#clock.elapsed() - this.#lastAt < quietMs) return
    this.#logger.info(`${this.#well}, after ${this.#secondsAt(this.#lastAt)} s`)
    this.#begunAt = null
    this.#suppressed = 0
  }

  #say(message: string, error: unknown): void {
    this.#loggedAt = this.#clock.elapsed()
    this.#suppressed = 0
    this.#logger.error(message, { error })
  }

  #secondsAt(now: number): number {
    return Math.ceil((now - (this.#begunAt ?? now)) / 1_000)
  }
}
