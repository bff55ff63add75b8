import SqliteDatabase, { type Database } from 'better-sqlite3'
import { unusable } from '../unusable.ts'
import { isTrustedVersion } from './sqlite-version.ts'

/**
 * Loads the driver, and opens the file with it. A lock that another connection holds is not waited for.
 * @throws PawlError 'store-unusable' where this Node cannot load the driver, or its SQLite is not to be trusted
 */
export function connectDriver(file: string): Database {
  if (isTooNew(SqliteDatabase.prototype, process.versions.node)) throw tooNew()
  const database = load(file)
  const version = database.prepare('select sqlite_version()').pluck().get() as string
  if (isTrustedVersion(version)) return database
  database.close()
  throw unusable(
    `SQLite ${version} can corrupt a file that several processes write to.`,
    'Install a better-sqlite3 that brings SQLite 3.51.3 or later: version 12.11.1 does.',
  )
}

function load(file: string): Database {
  try {
    return new SqliteDatabase(file, { timeout: 0 })
  } catch (error) {
    throw isNotLoaded(error) ? noBinary(error) : error
  }
}

/** The binary is not there, or was made for another Node. Deno says it in its own words. */
function isNotLoaded(error: unknown): boolean {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown }
  return (
    code === 'ERR_DLOPEN_FAILED' ||
    /^(Could not locate the bindings file|Cannot load native addon)/.test(String(message))
  )
}

/** Bun and Deno give themselves out for a Node, and load binaries only from version 13 on: those use Node-API. */
export function noBinary(
  cause: unknown,
  { bun, deno, node }: NodeJS.ProcessVersions = process.versions,
): Error {
  const other = bun === undefined ? deno && `Deno ${deno}` : `Bun ${bun}`
  return unusable(
    `better-sqlite3 has no binary that ${other ?? `Node ${node}`} can load.`,
    other === undefined
      ? 'Run "npm rebuild better-sqlite3" with this Node. Where scripts of packages are not run at an install, allow those of better-sqlite3 first.'
      : 'Install version 13 of it, by { "overrides": { "better-sqlite3": "^13.2.0" } } in package.json: an older one loads in Node alone.',
    cause,
  )
}

/** better-sqlite3 13, which has this method, is made for Node 22.14: an older one dies of it without a word. */
export function isTooNew(driver: object, node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return 'explain' in driver && (major < 22 || (major === 22 && minor < 14))
}

function tooNew(): Error {
  return unusable(
    `The better-sqlite3 that is installed needs Node 22.14, and this is ${process.versions.node}.`,
    'Install version 12 of it, by { "overrides": { "better-sqlite3": "^12.11.1" } } in package.json (with pnpm in pnpm-workspace.yaml, with Yarn as "resolutions"), or use a newer Node.',
  )
}
