import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * The file itself, whatever links lead to it. SQLite keeps the -wal beside the file, not beside a link to it; and
 * a link may be led elsewhere while the file is open.
 */
export function realFile(file: string): string {
  const path = resolve(file)
  return follow(path) ?? join(follow(dirname(path)) ?? dirname(path), basename(path))
}

function follow(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // Not there yet, or not to be read: opening it says why.
    return undefined
  }
}
