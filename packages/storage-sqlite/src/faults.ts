import { docsPage } from '@pawl/core/storage'
import { unusable } from './unusable.ts'

/** Returns the extended result code of a SQLite error, or an empty string for other errors. */
function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}

/** Returns whether another connection has the lock. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED'
}

/** Returns whether a row with the same key exists. */
export function isTaken(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** Returns whether the rows of the run are damaged, so that they contradict the item to be written. */
export function isRefusedByRow(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_MISMATCH' || error instanceof RangeError
}

// By prefix of the code. After each of these faults, nothing was written.
const faults: readonly (readonly [
  code: string,
  what: (file: string) => string,
  remedy: (file: string) => string,
])[] = [
  [
    'SQLITE_FULL',
    (file) => `The disk of ${file} is full.`,
    () => 'Free some space and repeat the call. Nothing was stored.',
  ],
  [
    'SQLITE_CORRUPT',
    (file) => `${file} is damaged.`,
    (file) =>
      `Stop every process that uses it, keep a copy of ${file} and its -wal, and restore a backup (${docsPage('guides/sqlite')}).`,
  ],
  [
    'SQLITE_NOTADB',
    (file) => `${file} is not a SQLite database, or it is damaged.`,
    (file) =>
      `If it should be a database, keep a copy and restore a backup (${docsPage('guides/sqlite')}). Otherwise pass \`sqlite()\` a path other than ${file}.`,
  ],
  [
    'SQLITE_READONLY',
    (file) => `${file} is not writable.`,
    (file) =>
      `Give this user write access to ${file} and to its directory, or mount the file system writable.`,
  ],
  [
    'SQLITE_CANTOPEN',
    (file) => `${file} cannot be opened.`,
    (file) => `Give this user read and write access to ${file}, its -wal and -shm, and to their directory.`,
  ],
  [
    // The -shm, which is created at the start, needs a few kilobytes.
    'SQLITE_IOERR_SHMSIZE',
    (file) => `The disk of ${file} has no space for the -shm beside it.`,
    () => 'Free some space and repeat the call. Nothing was stored.',
  ],
  [
    'SQLITE_IOERR',
    (file) => `The disk of ${file} failed.`,
    () => 'Check the disk in the system log, and repeat the call. Nothing was stored.',
  ],
]

/** Turns a known fault into a PawlError with a remedy. Returns any other error unchanged. */
export function explainFault(error: unknown, file: string): unknown {
  const code = codeOf(error)
  const known = faults.find(([prefix]) => code.startsWith(prefix))
  // No `next`: the fault may occur at the start or later.
  return known ? unusable(known[1](file), known[2](file), error, '') : error
}
