import type { Client } from '../connection/clients.ts'
import type { Database } from '../connection/database.ts'
import { codeOf, describe } from '../faults.ts'
import { type Names, storeTime } from '../names.ts'
import { unusable } from '../unusable.ts'
import type { Migration } from './migration.ts'
import { initial } from './migrations/0001-initial.ts'
import { processes } from './migrations/0002-processes.ts'
import { causes } from './migrations/0003-causes.ts'
import { abilities } from './migrations/0004-abilities.ts'
import { suspects } from './migrations/0005-suspects.ts'
import { sameNumbers } from './migrations/0006-same-numbers.ts'
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
import { explainRights, isCurrent, type MigrationName, migrationNames } from './version.ts'

const byName: Record<MigrationName, Migration> = {
  initial,
  processes,
  causes,
  abilities,
  suspects,
  'same-numbers': sameNumbers,
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
 * Migrates the schema to the version of this package, in one transaction. A process killed midway leaves no change.
 * @throws PawlError 'store-unusable'
 */
export async function migrate(database: Database): Promise<void> {
  const { names } = database
  try {
    await database.repeat(() => database.lend((client) => migrateOn(client, names)))
  } catch (error) {
    if (codeOf(error) !== '55P03') throw error
    throw unusable(
      `The migration of the schema "${names.schema}" could not lock its tables: ${describe(error)}.`,
      'Wait for the backup or long transaction that holds the lock, then open the store again.',
      error,
    )
  }
}

/** Migrates on one connection. Concurrent callers wait for the lock and then find the schema migrated. */
export async function migrateOn(
  client: Client,
  names: Names,
  known: readonly Migration[] = migrations,
): Promise<void> {
  const run = (text: string, values: readonly unknown[] = []) => client.query({ text, values })
  try {
    await run('begin')
    // Changing a large table takes longer than any other statement. (Before version 17 there is no transaction_timeout.)
    await run(
      `select set_config(name, '0', true) from pg_catalog.pg_settings where name in ('statement_timeout', 'transaction_timeout')`,
    )
    await run('select pg_advisory_xact_lock(hashtextextended($1, 0))', [names.channel])
    // Waiting to change a table blocks all others from it, including heartbeats. So give up early and retry.
    await run("set local lock_timeout = '500ms'")
    const { rows } = await run('select from pg_catalog.pg_namespace where nspname = $1', [names.schema])
    // Only if it is missing: `if not exists` requires the right to create it in any case.
    if (rows.length === 0) await run(`create schema "${names.schema}"`)
    await run(
      `create table if not exists ${names.migrations} (version int primary key, name text not null, applied_at bigint not null)`,
    )
    const done = await run(`select coalesce(max(version), 0)::int as version from ${names.migrations}`)
    const version = Number((done.rows[0] as { version: unknown }).version)
    if (!isCurrent(version, names)) await apply(run, names, known.slice(version))
    await run('commit')
  } catch (error) {
    await run('rollback').catch(() => {})
    throw explainRights(error, names)
  }
}

async function apply(
  run: (text: string, values?: readonly unknown[]) => Promise<unknown>,
  names: Names,
  steps: readonly Migration[],
): Promise<void> {
  for (const { version, name, statements } of steps) {
    for (const statement of statements(queries.schema.withSchema(names.schema), names.qualify))
      await run(statement.compile().sql)
    await run(`insert into ${names.migrations} (version, name, applied_at) values ($1, $2, ${storeTime})`, [
      version,
      name,
    ])
  }
}
