import pg from 'pg'

/** Does the query as it was sent, or as it is given here. */
export type Go = (changed?: pg.QueryConfig) => Promise<unknown>

/** A pool whose statements, and whose new connections, a test may hold up or change on their way there and back. */
export class InterposedPool {
  readonly options: { readonly max: number }
  onQuery: (text: string, go: Go, config: pg.QueryConfig) => Promise<unknown> = (_, go) => go()
  onConnect: () => Promise<void> = async () => {}
  readonly #pool: pg.Pool

  constructor(connectionString: string, max = 10) {
    this.options = { max }
    this.#pool = new pg.Pool({ connectionString, max })
    this.#pool.on('error', () => {})
  }

  async connect(): Promise<pg.PoolClient> {
    await this.onConnect()
    const client = await this.#pool.connect()
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name)
        if (name === 'query')
          return (config: pg.QueryConfig) =>
            this.onQuery(config.text, (changed = config) => target.query(changed), config)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  }

  async end(): Promise<void> {
    await this.#pool.end()
  }
}
