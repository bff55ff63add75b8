import { ServerError } from './problem.ts'

const minuteMs = 60_000

/**
 * Counts what each key did in the present minute, in memory. Keys of earlier minutes are dropped, so that the number of callers does
 * not grow the table.
 */
export class RateLimit {
  readonly #perMinute: number
  readonly #now: () => number
  #minute = 0
  #counts = new Map<string, number>()

  constructor(perMinute: number, now: () => number) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Counts one more. @throws ServerError 'too-many' with Retry-After */
  take(key: string): void {
    const now = this.#now()
    const minute = Math.floor(now / minuteMs)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts = new Map()
    }
    const count = (this.#counts.get(key) ?? 0) + 1
    this.#counts.set(key, count)
    if (count <= this.#perMinute) return
    const seconds = Math.ceil(((minute + 1) * minuteMs - now) / 1000)
    throw new ServerError(
      'too-many',
      `More than ${this.#perMinute} requests in a minute. Retry in ${seconds} s.`,
      {
        headers: { 'retry-after': String(seconds) },
      },
    )
  }
}
