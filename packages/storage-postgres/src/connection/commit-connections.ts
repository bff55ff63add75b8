import type { Database, Runner } from './database.ts'

/** Reserves a few connections and lends each to one caller at a time, in order of arrival. */
export class CommitConnections {
  readonly #idle: Runner[]
  readonly #waiting: ((runner: Runner) => void)[] = []

  constructor(database: Database, count: number) {
    this.#idle = Array.from({ length: count }, () => database.reserve())
  }

  async lend<T>(use: (runner: Runner) => Promise<T>): Promise<T> {
    const runner = this.#idle.pop() ?? (await new Promise<Runner>((resolve) => this.#waiting.push(resolve)))
    try {
      return await use(runner)
    } finally {
      const next = this.#waiting.shift()
      if (next) next(runner)
      else this.#idle.push(runner)
    }
  }
}
