import { defineStore, refuse, type Store } from '@pawl/core/storage'
import { createStore } from './store.ts'

/**
 * Keeps runs in one SQLite file, for any number of processes on one machine. Pawl sets and asserts WAL and
 * `synchronous=FULL`: acknowledged data survives a crash of the process and a power loss. `file` is a path, and links to it
 * are followed once. The file is created if it does not exist; its directory must exist. `':memory:'`, `file:` URLs, `~/`,
 * trailing white space and, except on Windows, Windows paths are rejected.
 * @throws PawlError 'option-invalid'
 * @example
 * const engine = await createEngine({ store: sqlite('pawl.db'), procedures: [refund] })
 */
export function sqlite(file: string): Store {
  const remedy = refusalOf(file)
  if (remedy !== null) refuse('file of sqlite', file, remedy, show(file))
  return defineStore('sqlite', () => createStore(file))
}

/** A value that is no path only by its kind: there is no telling what is in it. */
function show(file: unknown): string {
  return typeof file === 'string' ? JSON.stringify(file) : `of the type ${typeof file}`
}

/** What is wrong with it as the path of a file; null if nothing is. */
function refusalOf(file: unknown): string | null {
  if (typeof file !== 'string') return "It must be the path of a file, such as 'pawl.db'."
  if (/^file:/i.test(file)) return 'It must be a path; fileURLToPath() of node:url makes one of an address.'
  if (file.startsWith('~/')) return 'Only a shell knows what ~ is; homedir() of node:os tells.'
  if (process.platform !== 'win32' && isWindowsPath(file))
    return `It is a Windows path, and this platform is ${process.platform}. Use a path with /, such as '/var/lib/app/pawl.db'.`
  if (file !== file.trimEnd()) return 'It must not end with white space, which the driver would leave out.'
  return null
}

/** A drive, or separators that are all backslashes: elsewhere they are letters of a name. */
function isWindowsPath(file: string): boolean {
  return /^[a-z]:[\\/]/i.test(file) || (file.includes('\\') && !file.includes('/'))
}
