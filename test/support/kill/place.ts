/** Where workers and clients of a test meet: a file, or a database of its own. */
export interface Place {
  /** As programs take it: the path of the file, or the URL of the database. */
  readonly location: string
  /** Everything the checks look at, read past the engine. */
  readRows(): Promise<Rows>
  remove(): Promise<void>
}

export interface Rows {
  readonly runs: readonly RunRow[]
  /** In the order of their logs. */
  readonly events: readonly EventRow[]
  readonly asks: readonly AskRow[]
  /** Every change of an epoch, and how long the log was then. */
  readonly changes: readonly EpochChange[]
  /** What the database says is wrong with itself. */
  readonly damage: readonly string[]
}

export interface RunRow {
  readonly run: number
  readonly id: string
  readonly state: number
  readonly mark: number
  readonly head: number
}

export interface EventRow {
  readonly run: number
  readonly seq: number
  /** By the clock of the store, which is that of this machine. */
  readonly at: number
  readonly epoch: number
  readonly type: number
  readonly position: number
  /** As stores keep it. */
  readonly kind: number | null
  readonly name: string
  readonly payload: Uint8Array | null
}

export interface AskRow {
  readonly run: number
  readonly position: number
  readonly status: number
}

export interface EpochChange {
  readonly run: number
  readonly epoch: number
  readonly head: number
}
