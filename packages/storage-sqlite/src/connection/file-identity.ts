import { statSync } from 'node:fs'
import { docsPage } from '@pawl/core/storage'
import { unusable } from '../unusable.ts'

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
  if (identity !== undefined && readIdentity(file) === identity) return
  throw unusable(
    `${file} was replaced or deleted while it was open. What was stored since then may be lost.`,
    `Stop every process that uses the store, restore the file together with its -wal, or from a backup (${docsPage('guides/sqlite')}), and start again.`,
    undefined,
    'This process stores nothing in it any more.',
  )
}
