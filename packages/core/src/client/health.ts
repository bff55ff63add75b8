import { type ProcedureInput, readInputs } from '../runs/procedure-inputs.ts'
import type { Connection } from './connection.ts'

/** A live worker, for people. */
export interface WorkerView {
  /** Host and process. */
  readonly name: string
  /** Undefined: an earlier version registered it. */
  readonly startedAt: Date | undefined
  /** When it last renewed its lease. */
  readonly seenAt: Date
  /** When its lease expires unless it renews it. */
  readonly leaseEndsAt: Date
  /** The number of runs that it executes or keeps. */
  readonly runs: number
  readonly procedures: readonly WorkerProcedure[]
}

/** A version of a procedure that a worker can execute. */
export interface WorkerProcedure extends Omit<ProcedureInput, 'takesInput'> {
  /** Undefined: an earlier version of the worker does not declare it. */
  readonly takesInput: boolean | undefined
}

/** Figures of a store for monitoring. Counts stop at 1,000. */
export interface StoreHealth {
  readonly workers: number
  readonly openAsks: number
  readonly overdueAsks: number
  readonly stuckRuns: number
  readonly quarantinedRuns: number
  /** Runs with an undo that failed or did not run, whatever their status. */
  readonly failedRollbacks: number
  /** Due runs that no worker has claimed. */
  readonly dueRuns: number
  /** How long the oldest of them has been due, in ms; 0 if there is none. */
  readonly oldestDueMs: number
  /** The number of the newest event of the feed. */
  readonly feed: number
}

/** The number at which the counts of `StoreHealth` stop. */
const maxCount = 1_000

/** Returns the live workers, the oldest first. */
export async function listWorkers(connection: Connection): Promise<readonly WorkerView[]> {
  const rows = await (await connection.begin()).workers.list()
  return rows.map(({ name, startedAt, beatAt, leaseMs, runs, procedures, inputs }) => ({
    name,
    startedAt: startedAt === null ? undefined : new Date(startedAt),
    seenAt: new Date(beatAt),
    leaseEndsAt: new Date(beatAt + leaseMs),
    runs,
    procedures: (procedures ?? []).flatMap((one) =>
      one.versions.map((version) => describe(one.name, version, readInputs(inputs))),
    ),
  }))
}

function describe(name: string, version: number, inputs: readonly ProcedureInput[]): WorkerProcedure {
  const declared = inputs.find((one) => one.name === name && one.version === version)
  const { takesInput, needsInput, schema, signals } = declared ?? {}
  return { name, version, takesInput, needsInput, schema, signals }
}

/** Reads the figures of a store. */
export async function readHealth(connection: Connection): Promise<StoreHealth> {
  const store = await connection.begin()
  const now = await store.now()
  const everything = { status: 'open', to: null, run: null, procedure: null, kind: null, now } as const
  const open = { ...everything, lapsed: false } as const
  const all = { procedure: null, tag: null, parent: null, before: null, limit: maxCount } as const
  const marked = (status: 'stuck' | 'quarantined') =>
    store.runs.list({ ...all, statuses: [status], failedUndo: false })
  const [workers, openAsks, overdueAsks, stuck, quarantined, notUndone, backlog, feed] = await Promise.all([
    store.workers.list(),
    store.asks.count({ ...open, overdue: null }, maxCount),
    store.asks.count({ ...open, overdue: true }, maxCount),
    marked('stuck'),
    marked('quarantined'),
    store.runs.list({ ...all, statuses: [], failedUndo: true }),
    store.claims.backlog(),
    store.feed.read(Number.MAX_SAFE_INTEGER, 1),
  ])
  const oldest = await Promise.all(backlog.map((one) => store.runs.find(one.oldest)))
  const dueSince = oldest.flatMap((run) => run?.wakeAt ?? [])
  return {
    workers: workers.length,
    openAsks,
    overdueAsks,
    stuckRuns: stuck.length,
    quarantinedRuns: quarantined.length,
    failedRollbacks: notUndone.length,
    dueRuns: backlog.reduce((sum, { count }) => sum + count, 0),
    oldestDueMs: Math.max(0, now - Math.min(now, ...dueSince)),
    feed: feed.newest,
  }
}
