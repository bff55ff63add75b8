import type { Database } from 'better-sqlite3'
import { prepareReadAll, type ReadAll } from './connection/read-all.ts'
import { prepareReads, type Reads } from './reads/reads.ts'
import { type ClaimWrites, prepareClaims } from './writes/claim.ts'
import { type Commit, prepareCommit } from './writes/commit.ts'
import { type Create, prepareCreate } from './writes/create.ts'
import { prepareMark, type SetMark } from './writes/mark.ts'
import { type Disown, prepareDisown, prepareReclaim, type Reclaim } from './writes/reclaim.ts'
import { type MailWrites, prepareMail } from './writes/send.ts'
import { prepareWorkers, type Workers } from './writes/workers.ts'

/** Every statement of the store, prepared once per connection, by what it is for. */
export interface Statements {
  readonly workers: Workers
  readonly create: Create
  readonly commit: Commit
  readonly reclaim: Reclaim
  readonly disown: Disown
  readonly mail: MailWrites
  readonly mark: SetMark
  readonly claims: ClaimWrites
  readonly reads: Reads
  readonly readAll: ReadAll
  /** A number that changes when another connection has committed. */
  readDataVersion(): number
}

export function prepareStatements(database: Database): Statements {
  const dataVersion = database.prepare<[], number>('pragma data_version').pluck()
  return {
    workers: prepareWorkers(database),
    create: prepareCreate(database),
    commit: prepareCommit(database),
    reclaim: prepareReclaim(database),
    disown: prepareDisown(database),
    mail: prepareMail(database),
    mark: prepareMark(database),
    claims: prepareClaims(database),
    reads: prepareReads(database),
    readAll: prepareReadAll(database),
    readDataVersion: () => dataVersion.get() as number,
  }
}
