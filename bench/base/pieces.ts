import { existsSync, openSync, readSync } from 'node:fs'
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks'

/** The longest pieces, in ms. */
export interface Longest {
  /** Without the collections of garbage that ran in it. */
  readonly ms: number
  readonly withGarbageMs: number
}

/** The work of one round of the event loop, without excluded work. */
interface Piece {
  readonly ms: number
  readonly from: number
  readonly to: number
}

/**
 * Measures the synchronous pieces of work of this process: one piece is the work of one round of the event loop.
 * Counts processor time, so that other processes and the disk add nothing.
 */
export class Pieces {
  #isWatching = false
  #fromCpu = 0
  #from = 0
  /** Excluded processor time in the current piece, in ms. */
  #excluded = 0
  #pieces: Piece[] = []

  /** Returns the longest piece while `work` runs. */
  async longestOf(work: () => Promise<void>): Promise<Longest> {
    const collections: PerformanceEntry[] = []
    const observer = new PerformanceObserver((list) => void collections.push(...list.getEntries()))
    observer.observe({ entryTypes: ['gc'] })
    this.#pieces = []
    this.#isWatching = true
    this.#restart()
    setImmediate(this.#look)
    await work()
    // The last piece ends with its round.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    this.#isWatching = false
    collections.push(...observer.takeRecords())
    observer.disconnect()
    return findLongest(this.#pieces, collections)
  }

  /** Runs `work` without counting it. */
  exclude<Result>(work: () => Result): Result {
    const from = threadMs()
    try {
      return work()
    } finally {
      this.#excluded += threadMs() - from
    }
  }

  readonly #look = (): void => {
    if (!this.#isWatching) return
    const ms = threadMs() - this.#fromCpu - this.#excluded
    const to = performance.now()
    // Most rounds do nothing.
    if (ms > 0.1) this.#pieces.push({ ms, from: this.#from, to })
    this.#restart()
    setImmediate(this.#look)
  }

  #restart(): void {
    this.#excluded = 0
    this.#fromCpu = threadMs()
    this.#from = performance.now()
  }
}

function findLongest(pieces: readonly Piece[], collections: readonly PerformanceEntry[]): Longest {
  let longest = 0
  let withGarbage = 0
  for (const { ms, from, to } of pieces) {
    const within = collections.filter(({ startTime }) => startTime >= from && startTime < to)
    const own = within.reduce((left, { duration }) => left - duration, ms)
    longest = Math.max(longest, own)
    withGarbage = Math.max(withGarbage, ms)
  }
  return { ms: longest, withGarbageMs: withGarbage }
}

interface Usage {
  readonly user: number
  readonly system: number
}

const threadMs = chooseClock()

/**
 * Returns a clock of the main thread's processor time, in ms. Before Node 24, on systems other than Linux, the clock
 * counts all threads, including those that collect garbage.
 */
function chooseClock(): () => number {
  const { threadCpuUsage } = process as { threadCpuUsage?: () => Usage }
  const measure = threadCpuUsage?.bind(process) ?? (() => process.cpuUsage())
  const sum = ({ user, system }: Usage): number => (user + system) / 1_000
  if (threadCpuUsage !== undefined || !existsSync('/proc/self/schedstat')) return () => sum(measure())
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r')
  const bytes = Buffer.alloc(64)
  return () => {
    // Asking for the usage of all threads makes the kernel update this file; otherwise it is as old as the last tick.
    measure()
    readSync(file, bytes, 0, bytes.length, 0)
    return Number.parseInt(bytes.toString('latin1'), 10) / 1e6
  }
}
