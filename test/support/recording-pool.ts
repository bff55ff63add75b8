import { type Go, InterposedPool } from './interposed-pool.ts'

export interface Recorded {
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly unknown[]
}

/** A pool that writes down which statements are sent, and how many of a kind are under way at once. */
export class RecordingPool extends InterposedPool {
  readonly statements: Recorded[] = []
  #underWay: string[] = []
  readonly #max = new Map<string, number>()

  constructor(connectionString: string) {
    super(connectionString)
    this.onQuery = (text, go, { name, values = [] }) => this.#record({ name, text, values }, go)
  }

  async #record(statement: Recorded, go: Go): Promise<unknown> {
    const { text } = statement
    this.statements.push(statement)
    this.#underWay.push(text)
    for (const kind of new Set(this.#underWay)) {
      const count = this.#underWay.filter((one) => one === kind).length
      this.#max.set(kind, Math.max(count, this.#max.get(kind) ?? 0))
    }
    try {
      return await go()
    } finally {
      this.#underWay = this.#underWay.filter((_, index) => index !== this.#underWay.indexOf(text))
    }
  }

  /** How many statements that contain `part` were under way at once, at most. */
  maxAtOnce(part: string): number {
    return Math.max(0, ...[...this.#max].filter(([text]) => text.includes(part)).map(([, count]) => count))
  }

  /** What was sent last of those that contain all `parts`. */
  last(...parts: readonly string[]): Recorded {
    const found = this.statements.findLast(({ text }) => parts.every((part) => text.includes(part)))
    if (found === undefined) throw new Error(`No statement with ${parts.join(' and ')} was sent.`)
    return found
  }
}
