import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/**
 * Resolves symbolic links. SQLite keeps the -wal beside the file and not beside a link to it, and a link may be redirected
 * while the file is open.
 */
export function realFile(file: string): string {
  const path = resolve(file)
  return follow(path) ?? join(follow(dirname(path)) ?? dirname(path), basename(path))
}

function follow(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // The file does not exist or cannot be read: opening it reports the reason.
    return undefined
  }
}
