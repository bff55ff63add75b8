import { unusable } from '../unusable.ts'
import type { Database } from './database.ts'

/** Remedy that works if better-sqlite3 cannot be loaded. */
const otherDriver = "With Node 22.23, 24.21 or later, `sqlite(file, { driver: 'node' })` works without it."

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

export function notInstalled(cause: unknown): Error {
  return unusable(
    'better-sqlite3 is not installed.',
    `Run \`npm install better-sqlite3\`. ${otherDriver}`,
    cause,
  )
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
      ? `Run \`npm rebuild better-sqlite3\` with this Node. If install scripts are disabled, allow the scripts of better-sqlite3 first. ${otherDriver}`
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
