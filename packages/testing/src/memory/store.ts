import type { WholeStore } from '@pawl/core/storage'
import { createAsks } from './concerns/asks.ts'
import { createCheckpoints } from './concerns/checkpoints.ts'
import { createClaims } from './concerns/claims.ts'
import { createCopies } from './concerns/copies.ts'
import { createFeed } from './concerns/feed.ts'
import { createLog } from './concerns/log.ts'
import { createMail } from './concerns/mail.ts'
import { createNotices } from './concerns/notices.ts'
import { createRemovals } from './concerns/removals.ts'
import { createRuns } from './concerns/runs.ts'
import { createStates } from './concerns/states.ts'
import { createSuspects } from './concerns/suspects.ts'
import { createWorkers } from './concerns/workers.ts'
import { MemoryConnection } from './connection.ts'
import type { Tables } from './tables.ts'
import { declareDead } from './writes/workers.ts'

/**
 * Connects to the smallest correct store. Every method does its whole work synchronously, before the first `await`,
 * which makes it a transaction in a single-threaded program.
 * @param process owner of the connection; its own writes give it no hints
 */
export function createStore(tables: Tables, readTime: () => number, process: object = {}): WholeStore {
  const connection = new MemoryConnection(tables, readTime, process)
  return {
    async open() {
      connection.isOpen = true
    },
    /** Ends the connection as the end of its process would: workers that have not released their runs are dead. */
    async close() {
      connection.isOpen = false
      for (const worker of connection.workers) declareDead(tables, worker)
      connection.hints.close()
    },
    now: () => connection.read((now) => now),
    // The same for all memory stores, so that a test sees the same ids every time.
    askIdKey: () => connection.read(() => 'memory'),
    watch: (onHint) => connection.hints.watch(onHint),
    workers: createWorkers(connection),
    runs: createRuns(connection),
    copies: createCopies(connection),
    removals: createRemovals(connection),
    claims: createClaims(connection),
    suspects: createSuspects(connection),
    log: createLog(connection),
    mail: createMail(connection),
    states: createStates(connection),
    checkpoints: createCheckpoints(connection),
    asks: createAsks(connection),
    notices: createNotices(connection),
    feed: createFeed(connection),
  }
}
