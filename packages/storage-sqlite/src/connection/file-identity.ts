import { statSync } from 'node:fs'
import { docsPage } from '@pawl/core/storage'
import { unusable } from '../unusable.ts'

/** Identifies the file behind a name. The identity changes if the file is replaced. */
export function readIdentity(file: string): string | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino.toString()
}

/** Returns whether two names refer to one existing file. */
export function isSameFile(name: string, other: string): boolean {
  const [one, two] = [name, other].map((file) => statSync(file, { bigint: true, throwIfNoEntry: false }))
  return one !== undefined && one.ino === two?.ino && one.dev === two.dev
}

/**
 * Checks that the file is still in its directory. If an open file is replaced or deleted, its processes keep writing to a
 * file that no longer has a name: no call would fail, and all writes would be lost.
 * @throws PawlError 'store-unusable'
 */
export function checkIdentity(file: string, identity: string | undefined): void {
  if (identity !== undefined && readIdentity(file) === identity) return
  throw unusable(
    `${file} was replaced or deleted while it was open. Data stored since then may be lost.`,
    `Stop every process that uses the store, restore the file together with its -wal or from a backup (${docsPage('guides/sqlite')}), and start again.`,
    undefined,
    'This process no longer writes to it.',
  )
}
