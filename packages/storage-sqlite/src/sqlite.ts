import { defineStore, oneOf, optional, readOptions, refuse, type Spec, type Store } from '@pawl/core/storage'
import { realEnvironment } from './connection/connection.ts'
import { driverNames } from './connection/driver.ts'
import { createStore } from './store.ts'

/** Options of `sqlite`. */
export interface SqliteOptions {
  /**
   * Library that reads and writes the file. `'node'` is the `node:sqlite` of Node 22.23, 24.21 and later, and needs no
   * native module. A file that is open in this process with one driver is refused with the other.
   * Default: `'better-sqlite3'`.
   */
  readonly driver?: 'better-sqlite3' | 'node'
}

const sqliteOptions = {
  driver: optional(oneOf(driverNames), 'better-sqlite3'),
} satisfies Spec<SqliteOptions>

/**
 * Creates a store that keeps runs in one SQLite file. Any number of processes on one machine can share the file.
 *
 * Pawl sets and checks WAL and `synchronous=FULL`, so acknowledged data survives a process crash and a power loss.
 * The file is created if it does not exist; its directory must exist. Opening it can reject with `store-unusable`.
 * @param file path of the file. Links are resolved once. Not supported: `':memory:'`, `file:` URLs, `~/`, trailing
 * white space and, except on Windows, Windows paths.
 * @param options the driver
 * @throws PawlError 'option-invalid'
 * @example
 * const engine = await createEngine({ store: sqlite('pawl.db'), procedures: [refund] })
 */
export function sqlite(file: string, options: SqliteOptions = {}): Store {
  const remedy = refusalOf(file)
  if (remedy !== null) refuse('file of sqlite', file, remedy, show(file))
  const { driver } = readOptions('of sqlite', options, sqliteOptions)
  return defineStore('sqlite', () => createStore(file, realEnvironment(driver)))
}

/** Shows a path as it is, a URL without its user, and any other value only by its type, because it may contain secrets. */
function show(file: unknown): string {
  if (typeof file !== 'string') return `of the type ${typeof file}`
  return JSON.stringify(file.replace(/^([a-z][a-z\d+.-]*:\/\/)[^/]*@/i, '$1***@'))
}

/** Returns why the value is not a valid path, or null if it is one. */
function refusalOf(file: unknown): string | null {
  if (typeof file !== 'string') return "It must be the path of a file, such as 'pawl.db'."
  if (/^file:/i.test(file)) return 'It must be a path, not a URL. Use `fileURLToPath()` of node:url.'
  if (/^postgres(ql)?:\/\//i.test(file))
    return 'It is an address of PostgreSQL. Use `postgres()` of @pawl/storage-postgres.'
  if (/^[a-z][a-z\d+.-]*:\/\//i.test(file))
    return "It must be the path of a file, such as 'pawl.db', not a URL."
  if (file.startsWith('~/')) return '`~` is not expanded. Use `homedir()` of node:os.'
  if (process.platform !== 'win32' && isWindowsPath(file))
    return `It is a Windows path, but the platform is ${process.platform}. Use a path such as '/var/lib/app/pawl.db'.`
  if (file !== file.trimEnd()) return 'It must not end with white space, which the driver removes.'
  return null
}

/** Returns whether a path has a drive, or only backslashes as separators. On other platforms these are part of a name. */
function isWindowsPath(file: string): boolean {
  return /^[a-z]:[\\/]/i.test(file) || (file.includes('\\') && !file.includes('/'))
}
