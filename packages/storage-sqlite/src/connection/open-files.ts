import { statSync } from 'node:fs'
import { unusable } from '../unusable.ts'

/** A copy of SQLite that is loaded in this process. */
export interface Library {
  /** Differs between copies: 'node:sqlite', or the path of a better-sqlite3. */
  readonly id: string
  /** Option of `sqlite()` that selects it. */
  readonly driver: string
}

/** A file that is open in this process, and the library of its connections. */
interface OpenFile {
  readonly library: Library
  connections: number
}

// Every copy of this package in the process uses the same map. The keys are the device and inode of a file.
const registry: unique symbol = Symbol.for('@pawl/storage-sqlite/open-files')
const shared = globalThis as { [registry]?: Map<string, OpenFile> }

/**
 * Registers a connection to an existing file. The locks that SQLite takes belong to the whole process, and each copy of
 * SQLite counts only its own: if one closes the file, it releases the locks of the other, and two writers can corrupt it.
 * @returns a function that removes the connection from the register
 * @throws PawlError 'store-unusable' if another copy of SQLite has the file open in this process
 */
export function registerConnection(file: string, library: Library): () => void {
  shared[registry] ??= new Map()
  const files = shared[registry]
  const { dev, ino } = statSync(file, { bigint: true })
  const key = `${dev}:${ino}`
  const open = files.get(key) ?? { library, connections: 0 }
  if (open.library.id !== library.id) throw otherLibrary(file, library, open.library)
  open.connections += 1
  files.set(key, open)
  return () => {
    open.connections -= 1
    if (open.connections === 0) files.delete(key)
  }
}

function otherLibrary(file: string, wanted: Library, open: Library): Error {
  const isSameDriver = wanted.driver === open.driver
  return unusable(
    isSameDriver
      ? `${file} is already open in this process with another copy of ${open.driver}: ${open.id}, not ${wanted.id}. Two copies of SQLite in one process release each other's locks, which can corrupt the file.`
      : `${file} is already open in this process with the driver '${open.driver}', so it cannot be opened with '${wanted.driver}'. Two copies of SQLite in one process release each other's locks, which can corrupt the file.`,
    isSameDriver
      ? `Install one copy of ${open.driver}: \`npm ls ${open.driver}\` shows all of them, and \`npm dedupe\` merges them.`
      : 'Use the same `driver` in every `sqlite()` of this process, or a separate process.',
  )
}
