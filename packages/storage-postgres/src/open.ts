import type { Database } from './connection/database.ts'
import { minTimeoutMs, raiseTimeout } from './faults.ts'
import { storeTime } from './names.ts'
import { isCurrent, readVersion } from './schema/version.ts'
import { unusable } from './unusable.ts'

const oldestVersion = 15
/** Connections that a starting worker needs at once: for claims, for its heartbeat and for LISTEN. */
const connectionsOfWorker = 3

interface Settings {
  readonly version: number
  readonly fsync: string
  readonly synchronous_commit: string
  readonly isolation: string
  readonly read_only: string
  readonly encoding: string
  // In ms; 0 means no timeout, or a setting that this server version lacks.
  readonly statement_timeout: number
  readonly transaction_timeout: number
  readonly idle_in_transaction_session_timeout: number
}

const timeouts = [
  'statement_timeout',
  'transaction_timeout',
  // Matters only during migrations: all other work is one statement.
  'idle_in_transaction_session_timeout',
] as const

/** Connects, checks the server, and migrates. Returns the key of the ids of asks, which never changes. */
export async function openStore(database: Database, forWorker: boolean): Promise<string> {
  if (forWorker) database.connectAhead(connectionsOfWorker)
  await checkServer(database)
  await bringUpToDate(database)
  const { runs, storeInfo } = database.names
  const text = `select (select coalesce(max(run), 0) from ${runs}) as newest,
    (select value from ${storeInfo} where name = 'ask-ids') as key`
  const [row] = await database.read<{ newest: number; key: string }>(text, [])
  database.plans.noteRun(row?.newest ?? 0)
  return row?.key ?? ''
}

/** Loads the migrations only if the schema is not current. */
async function bringUpToDate(database: Database): Promise<void> {
  if (isCurrent(await readVersion(database), database.names)) return
  const { migrate } = await import('./schema/migrate.ts')
  await migrate(database)
}

/** Returns the time of the store, in ms since 1970. */
export async function readTime(database: Database): Promise<number> {
  const [row] = await database.read<{ now: number }>(`select ${storeTime} as now`, [])
  return row?.now ?? 0
}

/**
 * Checks server settings that would lose data or break a guarantee silently.
 * @throws PawlError 'store-unusable'
 */
async function checkServer(database: Database): Promise<void> {
  const [settings] = await database.read<Settings>(
    `select current_setting('server_version_num')::int / 10000 as version,
            current_setting('fsync') as fsync,
            current_setting('synchronous_commit') as synchronous_commit,
            current_setting('default_transaction_isolation') as isolation,
            current_setting('default_transaction_read_only') as read_only,
            current_setting('server_encoding') as encoding,
            ${timeouts.map(readTimeout).join(', ')}`,
    [],
  )
  if (settings) assertFit(settings)
}

/** Parses an interval as the server shows it, such as 500ms or 1min. */
function readTimeout(name: string): string {
  return `(coalesce(extract(epoch from current_setting('${name}', true)::interval), 0) * 1000)::bigint as ${name}`
}

function assertFit(settings: Settings): void {
  const { version, fsync, synchronous_commit, isolation, read_only, encoding } = settings
  if (version < oldestVersion) {
    throw unusable(
      `This is PostgreSQL ${version}.`,
      `Upgrade the server to version ${oldestVersion} or newer.`,
    )
  }
  if (fsync !== 'on') {
    throw unusable(
      'fsync is off on this server: a power cut can destroy the whole database.',
      "Set fsync = on: alter system set fsync = 'on'; select pg_reload_conf().",
    )
  }
  if (synchronous_commit === 'off') {
    throw unusable(
      'synchronous_commit is off: what was acknowledged in the last second is lost when the server crashes.',
      'Set it to on for this role: alter role … set synchronous_commit = on.',
    )
  }
  if (isolation !== 'read committed') {
    throw unusable(
      `The default isolation of this role or database is ${isolation}.`,
      "Set it back for this role: alter role … set default_transaction_isolation = 'read committed'.",
    )
  }
  if (read_only !== 'off') {
    throw unusable(
      'Transactions of this role are read-only.',
      'Allow writing for this role: alter role … set default_transaction_read_only = off.',
    )
  }
  if (encoding !== 'UTF8') {
    throw unusable(
      `The encoding of this database is ${encoding}.`,
      "Make a database with encoding UTF8: create database … encoding 'UTF8' template template0.",
    )
  }
  for (const name of timeouts) {
    const ms = settings[name]
    if (ms === 0 || ms >= minTimeoutMs) continue
    throw unusable(`${name} is ${ms} ms: the server would end statements of this store.`, raiseTimeout(name))
  }
}
