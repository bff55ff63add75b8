import { isBuiltin } from 'node:module'
import { unusable } from '../unusable.ts'
import type { Database } from './database.ts'
import { NodeDatabase, type NodeSqlite } from './node-database.ts'
import { isTrustedVersion } from './sqlite-version.ts'

/** Returns `node:sqlite`, or undefined if this runtime does not have it without a flag. */
export function findNodeSqlite(): NodeSqlite | undefined {
  return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
}

/** Returns whether the driver works in this runtime. Unlike loading `node:sqlite`, this prints no warning. */
export function hasNodeSqlite({ sqlite }: NodeJS.ProcessVersions): boolean {
  return isBuiltin('node:sqlite') && sqlite !== undefined && isTrustedVersion(sqlite)
}

/** @throws PawlError 'store-unusable' if this runtime has no `node:sqlite` */
export function loadNodeSqlite(
  versions: NodeJS.ProcessVersions = process.versions,
  find: () => NodeSqlite | undefined = findNodeSqlite,
): (file: string) => Database {
  const found = find()
  if (found === undefined) throw missing(versions)
  return (file) => new NodeDatabase(new found.DatabaseSync(file, { timeout: 0 }))
}

function missing(versions: NodeJS.ProcessVersions): Error {
  return unusable(
    `The driver 'node' needs node:sqlite, which ${nameRuntime(versions)} does not have.`,
    'Use Node 22.23, 24.21 or later, or omit `driver` to use better-sqlite3.',
  )
}

/** Returns the name and version of the runtime. Bun and Deno also identify as Node. */
export function nameRuntime({ bun, deno, node }: NodeJS.ProcessVersions): string {
  if (bun !== undefined) return `Bun ${bun}`
  return deno === undefined ? `Node ${node}` : `Deno ${deno}`
}
