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
import { Connection, type Environment } from './connection/connection.ts'
import { realFile } from './connection/real-file.ts'
import { prepareStatements, type Statements } from './statements.ts'
import { Transactions } from './transactions.ts'
import { watchCommits } from './watch.ts'

/** Creates the store port on one connection to a file, from the files of its concerns. */
export function createStore(file: string, environment: Environment): WholeStore {
  const connection = new Connection(file === '' ? file : realFile(file), prepareStatements, environment)
  const parts: StoreParts = { connection, transactions: new Transactions(connection) }
  return {
    open: () => connection.open(),
    close: async () => connection.close(),
    now: () => connection.read((_, at) => at),
    askIdKey: () => connection.read(({ readAskIdKey }) => readAskIdKey()),
    watch: (onHint) =>
      watchCommits(
        connection.file,
        { readVersion: () => readVersion(connection), countCommits: () => connection.commits },
        onHint,
      ),
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

/** Returns undefined while the file is locked or damaged. Any read reports the reason. */
function readVersion(connection: Connection<Statements>): number | undefined {
  try {
    return connection.peek()?.readDataVersion()
  } catch {
    return undefined
  }
}
