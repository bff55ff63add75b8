import pg from 'pg'

export interface Recorded {
  readonly name: string | undefined
  readonly text: string
  readonly values: readonly unknown[]
}

/** A pool that writes down which statements are sent, and how many of a kind are under way at once. */
export class RecordingPool {
  readonly options: { readonly max: number }
  readonly statements: Recorded[] = []
  readonly #pool: pg.Pool
  #underWay: string[] = []
  readonly #most = new Map<string, number>()

  constructor(connectionString: string, max = 10) {
    this.options = { max }
    this.#pool = new pg.Pool({ connectionString, max })
    this.#pool.on('error', () => {})
  }

  async connect(): Promise<pg.PoolClient> {
    const client = await this.#pool.connect()
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'query') return (config: pg.QueryConfig) => this.#record(target, config)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  async #record(client: pg.PoolClient, config: pg.QueryConfig): Promise<unknown> {
    const { name, text, values = [] } = config
    this.statements.push({ name, text, values })
    this.#underWay.push(text)
    for (const kind of new Set(this.#underWay)) {
      const count = this.#underWay.filter((one) => one === kind).length
      this.#most.set(kind, Math.max(count, this.#most.get(kind) ?? 0))
    }
    try {
      return await client.query(config)
    } finally {
      this.#underWay = this.#underWay.filter((_, index) => index !== this.#underWay.indexOf(text))
    }
  }

  /** How many statements that contain `part` were under way at once, at most. */
  mostAtOnce(part: string): number {
    return Math.max(0, ...[...this.#most].filter(([text]) => text.includes(part)).map(([, count]) => count))
  }

  /** What was sent last of those that contain all `parts`. */
  last(...parts: readonly string[]): Recorded {
    const found = this.statements.findLast(({ text }) => parts.every((part) => text.includes(part)))
    if (found === undefined) throw new Error(`No statement with ${parts.join(' and ')} was sent.`)
    return found
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}
