import type { Tables, WorkerRecord } from './tables.ts'
import { Hints } from './watch.ts'

/** A connection to the tables, on which the concerns of a store are built. */
export class MemoryConnection {
  readonly tables: Tables
  readonly hints: Hints
  /** Workers registered through this connection. */
  readonly workers: WorkerRecord[] = []
  isOpen = false
  readonly #readTime: () => number

  constructor(tables: Tables, readTime: () => number, process: object) {
    this.tables = tables
    this.hints = new Hints(tables, process)
    this.#readTime = readTime
  }

  async read<T>(work: (now: number) => T): Promise<T> {
    if (!this.isOpen) throw new Error('The connection to the store is not open.')
    return work(this.#readTime())
  }

  /** Writes and hints. @param isNews whether other processes may wait for the result. Default: always. */
  write<T>(work: (now: number) => T, isNews: (result: T) => boolean = () => true): Promise<T> {
    return this.read((now) => {
      const result = work(now)
      if (isNews(result)) this.hints.send()
      return result
    })
  }
}
