/** Describes the tables for kysely. The migrations document each column. */
export interface Schema {
  readonly runs: RunsTable
  readonly run_info: RunInfoTable
  readonly asks: AsksTable
}

interface RunsTable {
  readonly run: number
  readonly wake_at: number | null
  readonly worker: number | null
  readonly created_at: number
  readonly epoch: number
  readonly head: number
  readonly base: number
  readonly mail: number
  readonly version: number | null
  readonly tries: number
  readonly positives: number
  readonly alone: number
  readonly tested: boolean
  readonly cancel_at: number | null
  readonly state: number
  readonly mark: number
  readonly id: string
  readonly procedure: string
  readonly link: Uint8Array
}
interface RunInfoTable {
  readonly run: number
  readonly ended_at: number | null
  readonly procedure: string
  readonly started_by: string | null
  readonly parent: string | null
  readonly parent_position: number | null
  readonly tags: readonly string[]
  readonly info: Uint8Array | null
  readonly reason: Uint8Array | null
  readonly cause: string | null
}
interface AsksTable {
  readonly run: number
  readonly opened_at: number
  readonly due_at: number | null
  readonly closes_at: number | null
  readonly closed_at: number | null
  readonly position: number
  readonly status: number
  readonly urgency: number
  readonly kind: string
  readonly key: string | null
  readonly audience: readonly string[]
  readonly escalate_to: readonly string[]
  readonly answered_by: string | null
  readonly token: string | null
  readonly payload: Uint8Array
  readonly answer: Uint8Array | null
}
