import { existsSync, statSync } from 'node:fs'
import { unusable } from './unusable.ts'

/** Which file a name stands for; it is another one after the file was replaced. */
export function readIdentity(file: string): string | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino.toString()
}

/**
 * Whoever replaces or deletes an open file leaves its processes writing to one that is in no directory any
 * more: nothing would fail, and everything would be lost.
 * @throws PawlError 'store-unusable'
 */
export function checkIdentity(file: string, identity: string | undefined): void {
  if (readIdentity(file) === identity && existsSync(`${file}-wal`)) return
  throw unusable(
    `${file} or its -wal was replaced or deleted while it was open. What was stored since then may be lost.`,
    `Stop every process that uses ${file}, restore it together with its -wal or from a backup (docs/sqlite.md), and start again.`,
  )
}
