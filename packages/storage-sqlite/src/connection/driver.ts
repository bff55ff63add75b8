import SqliteDatabase, { type Database } from 'better-sqlite3'
import { unusable } from '../unusable.ts'
import { isTrustedVersion } from './sqlite-version.ts'

/**
 * Loads the driver and opens the file. Does not wait for locks of other connections.
 * @throws PawlError 'store-unusable' if this Node cannot load the driver, or if its SQLite release is not safe
 */
export function connectDriver(file: string): Database {
  if (isTooNew(SqliteDatabase.prototype, process.versions.node)) throw tooNew()
  const database = load(file)
  const version = database.prepare('select sqlite_version()').pluck().get() as string
  if (isTrustedVersion(version)) return database
  database.close()
  throw unusable(
    `SQLite ${version} can corrupt a file that several processes write to.`,
    'Install a better-sqlite3 with SQLite 3.51.3 or later, such as version 12.11.1.',
  )
}

function load(file: string): Database {
  try {
    return new SqliteDatabase(file, { timeout: 0 })
  } catch (error) {
    throw isNotLoaded(error) ? noBinary(error) : error
  }
}

/** Returns whether the binary is missing or was built for another Node. Deno has its own message for it. */
function isNotLoaded(error: unknown): boolean {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown }
  return (
    code === 'ERR_DLOPEN_FAILED' ||
    /^(Could not locate the bindings file|Cannot load native addon)/.test(String(message))
  )
}

/** Returns the error for a missing binary. Bun and Deno identify as Node, but load only the Node-API binaries of version 13. */
export function noBinary(
  cause: unknown,
  { bun, deno, node }: NodeJS.ProcessVersions = process.versions,
): Error {
  const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`
  return unusable(
    `better-sqlite3 has no binary that ${other ?? `Node ${node}`} can load.`,
    other === undefined
      ? 'Run `npm rebuild better-sqlite3` with this Node. If install scripts are disabled, allow the scripts of better-sqlite3 first.'
      : 'Install version 13 with `{ "overrides": { "better-sqlite3": "^13.2.0" } }` in package.json. Older versions load only in Node.',
    cause,
  )
}

/** Returns whether the driver needs a newer Node. better-sqlite3 13, which has this method, crashes before Node 22.14. */
export function isTooNew(driver: object, node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return 'explain' in driver && (major < 22 || (major === 22 && minor < 14))
}

function tooNew(): Error {
  return unusable(
    `The installed better-sqlite3 needs Node 22.14 or later; this is Node ${process.versions.node}.`,
    'Use a newer Node, or install version 12 with `{ "overrides": { "better-sqlite3": "^12.11.1" } }` in package.json (pnpm: in pnpm-workspace.yaml; Yarn: as `resolutions`).',
  )
}
