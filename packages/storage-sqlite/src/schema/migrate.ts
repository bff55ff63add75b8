import { randomUUID } from 'node:crypto'
import type { Database } from '../connection/database.ts'
import { unusable } from '../unusable.ts'
import type { Migration } from './migration.ts'
import { initial } from './migrations/0001-initial.ts'
import { unsuccessful } from './migrations/0002-unsuccessful.ts'
import { asksOfRun } from './migrations/0003-asks-of-run.ts'
import { causes } from './migrations/0004-causes.ts'
import { abilities } from './migrations/0005-abilities.ts'
import { suspects } from './migrations/0006-suspects.ts'
import { askTo } from './migrations/0007-ask-to.ts'
import { feed } from './migrations/0008-feed.ts'
import { cancels } from './migrations/0009-cancels.ts'
import { children } from './migrations/0010-children.ts'
import { askIds } from './migrations/0011-ask-ids.ts'
import { workers } from './migrations/0012-workers.ts'
import { parentPosition } from './migrations/0013-parent-position.ts'
import { runState } from './migrations/0014-run-state.ts'
import { generations } from './migrations/0015-generations.ts'
import { decisions } from './migrations/0016-decisions.ts'
import { checkpoints } from './migrations/0017-checkpoints.ts'
import { notices } from './migrations/0018-notices.ts'
import { stateSeq } from './migrations/0019-state-seq.ts'
import { senders } from './migrations/0020-senders.ts'
import { decisionDigests } from './migrations/0021-decision-digests.ts'
import { queries } from './queries.ts'
import { hasTable, type MigrationName, migrationNames, readVersion } from './version.ts'

const byName: Record<MigrationName, Migration> = {
  initial,
  unsuccessful,
  'asks-of-run': asksOfRun,
  causes,
  abilities,
  suspects,
  'ask-to': askTo,
  feed,
  cancels,
  children,
  'ask-ids': askIds,
  workers,
  'parent-position': parentPosition,
  'run-state': runState,
  generations,
  decisions,
  checkpoints,
  notices,
  'state-seq': stateSeq,
  senders,
  'decision-digests': decisionDigests,
}

/** All migrations, in order. */
export const migrations: readonly Migration[] = migrationNames.map((name) => byName[name])

/**
 * Migrates the file to the newest schema in one transaction. It is safe to repeat it, to run it in several processes at
 * once, and to kill it at any point.
 */
export function migrate(database: Database, file: string, known: readonly Migration[] = migrations): void {
  const newest = known.at(-1)?.version ?? 0
  if (readVersion(database, file, newest) === newest) return
  database.exec('begin immediate')
  try {
    // Another process may have migrated the file in the meantime.
    const version = readVersion(database, file, newest)
    if (version === 0) begin(database, file)
    for (const migration of known) if (migration.version > version) apply(database, migration)
    database.exec('commit')
  } catch (error) {
    if (database.inTransaction) database.exec('rollback')
    throw error
  }
}

function begin(database: Database, file: string): void {
  const foreign = database
    .prepare<[], string>("select name from sqlite_schema where type = 'table' limit 1")
    .pluck()
    .get()
  if (foreign !== undefined && !hasTable(database, 'migrations')) {
    throw unusable(
      `${file} contains tables that do not belong to Pawl, such as ${JSON.stringify(foreign)}.`,
      'Pass `sqlite()` the path of a separate file.',
    )
  }
  database.exec(
    'create table if not exists migrations (version integer primary key, name text not null, applied_at integer not null) strict',
  )
}

function apply(database: Database, { version, name, statements }: Migration): void {
  for (const statement of statements(queries.schema)) database.exec(statement.compile().sql)
  if (version === 1) database.prepare("insert into store_info values ('id', ?)").run(randomUUID())
  database.prepare('insert into migrations values (?, ?, ?)').run(version, name, Date.now())
}
