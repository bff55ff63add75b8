import { unusable } from '../unusable.ts'
import type { Database } from './database.ts'
import { NodeDatabase, type NodeSqlite } from './node-database.ts'

/** Returns `node:sqlite`, or undefined if this runtime does not have it without a flag. */
export function findNodeSqlite(): NodeSqlite | undefined {
  return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined
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

function missing({ bun, deno, node }: NodeJS.ProcessVersions): Error {
  const runtime = bun === undefined ? (deno === undefined ? `Node ${node}` : `Deno ${deno}`) : `Bun ${bun}`
  return unusable(
    `The driver 'node' needs node:sqlite, which ${runtime} does not have.`,
    'Use Node 22.23, 24.21 or later, or omit `driver` to use better-sqlite3.',
  )
}
