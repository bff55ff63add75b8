import pg from 'pg'

export interface RunRecord {
  readonly id: string
  readonly status: 'live' | 'completed' | 'failed' | 'cancelled'
  readonly head: number
}

export interface EventRecord {
  readonly run: string
  readonly seq: number
  /** Undefined for an event that is no result. */
  readonly settles: number | undefined
}

/** Looks into the tables of the engine behind its back: what is promised has to be there. */
export class Records {
  readonly #pool: pg.Pool

  constructor(url: string) {
    this.#pool = new pg.Pool({ connectionString: url, max: 2 })
    this.#pool.on('error', () => {})
  }

  async countDone(): Promise<number> {
    const [row] = await this.#read<{ count: number }>(
      'select count(*)::int as count from pawl.runs where state <> 0',
    )
    return row?.count ?? 0
  }

  /** How many orders each of these processes is executing. */
  async countHeld(pids: readonly (number | undefined)[]): Promise<readonly number[]> {
    const rows = await this.#read<{ name: string; count: number }>(
      'select name, count(*)::int as count from pawl.runs join pawl.workers using (worker) group by worker, name',
    )
    return pids.map((pid) => rows.find(({ name }) => name.endsWith(` ${pid}`))?.count ?? 0)
  }

  runs(): Promise<readonly RunRecord[]> {
    return this.#read<RunRecord>(
      `select id, head, (array['live', 'completed', 'failed', 'cancelled'])[state + 1] as status from pawl.runs`,
    )
  }

  /** Of all logs, in their order. */
  events(): Promise<readonly EventRecord[]> {
    return this.#read<EventRecord>(
      `select id as run, seq, case when type = 3 then position end as settles
       from pawl.events join pawl.runs using (run) order by run, seq`,
    )
  }

  async #read<Row>(text: string): Promise<Row[]> {
    return (await this.#pool.query(text)).rows as Row[]
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}
