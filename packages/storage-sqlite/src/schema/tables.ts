/** Describes the tables for kysely. The migrations document each column. */
export interface Schema {
  readonly workers: WorkersTable
  readonly runs: RunsTable
  readonly run_info: RunInfoTable
  readonly notices: NoticesTable
  readonly run_tags: RunTagsTable
  readonly run_state: RunStateTable
  readonly events: EventsTable
  readonly messages: MessagesTable
  readonly asks: AsksTable
  readonly ask_to: AskToTable
  readonly store_info: StoreInfoTable
  readonly migrations: MigrationsTable
}

interface WorkersTable {
  readonly worker: number
  readonly name: string
  readonly beat_at: number
  readonly lease_ms: number
  readonly dead: number
  readonly pid: number
  readonly process_started: string | null
  readonly machine: string | null
  readonly procedures: string | null
  readonly started_at: number | null
  readonly inputs: string | null
  readonly tested: number
}
interface RunsTable {
  readonly run: number
  readonly wake_at: number | null
  readonly worker: number | null
  readonly epoch: number
  readonly head: number
  readonly base: number
  readonly mail: number
  readonly state: number
  readonly mark: number
  readonly tries: number
  readonly positives: number
  readonly alone: number
  readonly tested: number
  readonly cancel_at: number | null
  readonly created_at: number
  readonly version: number | null
  readonly procedure: string
  readonly id: string
  readonly link: Uint8Array
}
/** What lists of runs read of notices. */
interface NoticesTable {
  readonly run: number
  readonly seq: number
  readonly kind: number
}

interface RunInfoTable {
  readonly run: number
  readonly ended_at: number | null
  readonly started_by: string | null
  readonly parent: string | null
  readonly parent_position: number | null
  readonly tags: string
  readonly reason: Uint8Array | null
  readonly cause: string | null
  readonly info: Uint8Array | null
}
interface RunStateTable {
  readonly run: number
  readonly name: string
  readonly at: number
  readonly payload: Uint8Array | null
  readonly seq: number | null
}
interface RunTagsTable {
  readonly tag: string
  readonly run: number
}
interface EventsTable {
  readonly run: number
  readonly seq: number
  readonly at: number
  readonly epoch: number
  readonly type: number
  readonly position: number
  readonly turn: number
  readonly kind: number | null
  readonly nth: number
  readonly failed: number
  readonly took_ms: number | null
  readonly name: string
  readonly payload: Uint8Array | null
  readonly link: Uint8Array | null
}
export interface MessagesTable {
  readonly run: number
  readonly n: number
  readonly at: number
  readonly kind: number
  readonly used: number
  readonly name: string
  readonly key: string | null
  readonly sent_by: string | null
  readonly payload: Uint8Array | null
}
interface AsksTable {
  readonly run: number
  readonly position: number
  readonly status: number
  readonly urgency: number
  readonly opened_at: number
  readonly due_at: number | null
  readonly closes_at: number | null
  readonly closed_at: number | null
  readonly kind: string
  readonly key: string | null
  readonly audience: string
  readonly escalate_to: string
  readonly answered_by: string | null
  readonly payload: Uint8Array
  readonly answer: Uint8Array | null
}
interface AskToTable {
  readonly run: number
  readonly position: number
  readonly name: string
  readonly late: number
  readonly urgency: number
  readonly due: number
  readonly opened_at: number
  readonly closes_at: number | null
}
interface StoreInfoTable {
  readonly name: string
  readonly value: string
}
interface MigrationsTable {
  readonly version: number
  readonly name: string
  readonly applied_at: number
}
