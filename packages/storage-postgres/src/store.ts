import type { WholeStore } from '@pawl/core/storage'
import { createAsks } from './concerns/asks.ts'
import { createCheckpoints } from './concerns/checkpoints.ts'
import { createClaims } from './concerns/claims.ts'
import { createCopies } from './concerns/copies.ts'
import { createFeed } from './concerns/feed.ts'
import { createLog } from './concerns/log.ts'
import { createMail } from './concerns/mail.ts'
import { createNotices } from './concerns/notices.ts'
import type { StoreParts } from './concerns/parts.ts'
import { createRemovals } from './concerns/removals.ts'
import { createRuns } from './concerns/runs.ts'
import { createStates } from './concerns/states.ts'
import { createSuspects } from './concerns/suspects.ts'
import { createWorkers } from './concerns/workers.ts'
import type { ClientPool } from './connection/clients.ts'
import { Database } from './connection/database.ts'
import { Ownership } from './connection/ownership.ts'
import type { Names } from './names.ts'
import { openStore, readTime } from './open.ts'
import { Hints } from './watch.ts'
import { prepareClaiming } from './writes/claim.ts'

export interface StoreOptions {
  readonly names: Names
  /** Whether statements are prepared under a name, and sessions set up. */
  readonly prepared: boolean
  readonly notifications: boolean
}

/** Creates the connection of one engine or client to the database, from the files of its concerns. */
export function createStore(
  connection: string | ClientPool,
  { names, prepared, notifications }: StoreOptions,
): WholeStore {
  const database = new Database(connection, names, prepared)
  const hints = new Hints(database, notifications)
  const ownership = new Ownership()
  const parts: StoreParts = { database, hints, ownership, claiming: prepareClaiming(database, ownership) }
  let askIdKey = ''
  return {
    commitsInFlight: 2,
    async open(forWorker = false) {
      askIdKey = await openStore(database, forWorker)
    },
    async close() {
      await Promise.all([hints.close(), database.close()])
    },
    now: () => readTime(database),
    // Read when the store was opened: it never changes.
    askIdKey: async () => askIdKey,
    watch: (onHint) => hints.watch(onHint),
    workers: createWorkers(parts),
    runs: createRuns(parts),
    copies: createCopies(parts),
    removals: createRemovals(parts),
    claims: createClaims(parts),
    suspects: createSuspects(parts),
    log: createLog(parts),
    mail: createMail(parts),
    states: createStates(parts),
    checkpoints: createCheckpoints(parts),
    asks: createAsks(parts),
    notices: createNotices(parts),
    feed: createFeed(parts),
  }
}
