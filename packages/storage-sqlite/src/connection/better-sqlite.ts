import { realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { unusable } from '../unusable.ts'
import type { Database } from './database.ts'
import { hasNodeSqlite, nameRuntime } from './node-sqlite.ts'

/** Returns the path of the better-sqlite3 that is loaded. A process may contain several. */
export function findBetterSqlite(): string {
  try {
    return realpathSync(createRequire(import.meta.url).resolve('better-sqlite3'))
  } catch {
    // Bundled, or not installed: loading it reports the reason.
    return 'better-sqlite3'
  }
}

/** @throws PawlError 'store-unusable' if better-sqlite3 is not installed, or needs a newer Node */
export async function loadBetterSqlite(): Promise<(file: string) => Database> {
  const { default: SqliteDatabase } = await import('better-sqlite3').catch((error: unknown) => {
    throw isNotInstalled(error) ? notInstalled(error) : error
  })
  if (isTooNew(SqliteDatabase.prototype, process.versions.node)) throw tooNew()
  return (file) => {
    try {
      return new SqliteDatabase(file, { timeout: 0 })
    } catch (error) {
      throw isNotLoaded(error) ? noBinary(error) : error
    }
  }
}

function isNotInstalled(error: unknown): boolean {
  return /^(ERR_)?MODULE_NOT_FOUND$/.test(String((Object(error) as { readonly code?: unknown }).code))
}

export function notInstalled(cause: unknown, versions: NodeJS.ProcessVersions = process.versions): Error {
  return unusable(
    'better-sqlite3 is not installed.',
    `Run \`npm install better-sqlite3\`. ${offerNode(versions)}`,
    cause,
  )
}

/**
 * Returns whether the binary is missing or was built for another Node. Version 12 searches for it, version 13 requires its
 * path, and Deno has its own message.
 */
function isNotLoaded(error: unknown): boolean {
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown }
  return (
    code === 'ERR_DLOPEN_FAILED' ||
    code === 'MODULE_NOT_FOUND' ||
    /^(Could not locate the bindings file|Cannot load native addon)/.test(String(message))
  )
}

/** Returns the error for a missing binary. Bun and Deno identify as Node, but load only the Node-API binaries of version 13. */
export function noBinary(cause: unknown, versions: NodeJS.ProcessVersions = process.versions): Error {
  const isNode = versions['bun'] === undefined && versions['deno'] === undefined
  return unusable(
    `better-sqlite3 has no binary that ${nameRuntime(versions)} can load.`,
    isNode
      ? `Run \`npm rebuild better-sqlite3\` with this Node. If install scripts are disabled, allow the scripts of better-sqlite3 first. ${offerNode(versions)}`
      : 'Install version 13 with `{ "overrides": { "better-sqlite3": "^13.2.0" } }` in package.json. Older versions load only in Node.',
    cause,
  )
}

/** Returns the remedy that needs no better-sqlite3. */
function offerNode(versions: NodeJS.ProcessVersions): string {
  return hasNodeSqlite(versions)
    ? "Or use the SQLite of Node, which needs no native module: `sqlite(file, { driver: 'node' })`."
    : `Or use Node 22.23, 24.21 or later, where \`sqlite(file, { driver: 'node' })\` needs no native module; ${nameRuntime(versions)} does not have it.`
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
