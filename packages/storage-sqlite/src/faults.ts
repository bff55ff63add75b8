import { docsPage } from '@pawl/core/storage'
import { unusable } from './unusable.ts'

/** The extended result code of an error of SQLite; empty for every other error. */
function codeOf(error: unknown): string {
  const { code } = Object(error) as { readonly code?: unknown }
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}

/** Another connection has the lock for the moment. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED'
}

/** A row with that key is there already. */
export function isTaken(error: unknown): boolean {
  const code = codeOf(error)
  return code === 'SQLITE_CONSTRAINT_UNIQUE' || code === 'SQLITE_CONSTRAINT_PRIMARYKEY'
}

/** The rows of the run contradict the item that was to be written: they are damaged. */
export function isRefusedByRow(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_CONSTRAINT') || code === 'SQLITE_MISMATCH' || error instanceof RangeError
}

// By the beginning of the code. None of these wrote anything.
const faults: readonly (readonly [
  code: string,
  what: (file: string) => string,
  remedy: (file: string) => string,
])[] = [
  [
    'SQLITE_FULL',
    (file) => `The disk of ${file} is full.`,
    () => 'Free some space; nothing of this call was stored, and it can be repeated.',
  ],
  [
    'SQLITE_CORRUPT',
    (file) => `${file} is damaged.`,
    (file) =>
      `Stop every process that uses it, keep ${file} and its -wal as they are, and restore a backup (${docsPage('guides/sqlite')}).`,
  ],
  [
    'SQLITE_NOTADB',
    (file) => `${file} is not a SQLite database, or it is damaged.`,
    (file) =>
      `If it should be one, keep it and restore a backup (${docsPage('guides/sqlite')}); otherwise give sqlite() another name than ${file}.`,
  ],
  [
    'SQLITE_READONLY',
    (file) => `${file} cannot be written to.`,
    (file) =>
      `Give this user write access to ${file} and to its directory, or mount the file system writable.`,
  ],
  [
    'SQLITE_CANTOPEN',
    (file) => `${file} cannot be opened.`,
    (file) => `Give this user read and write access to ${file}, its -wal and -shm, and to their directory.`,
  ],
  [
    // The -shm that a start makes needs a few kilobytes.
    'SQLITE_IOERR_SHMSIZE',
    (file) => `There is no room on the disk of ${file} for the -shm beside it.`,
    () => 'Free some space; nothing of this call was stored, and it can be repeated.',
  ],
  [
    'SQLITE_IOERR',
    (file) => `The disk of ${file} fails.`,
    () =>
      'Look at the log of the system for the disk; nothing of this call was stored, and it can be repeated.',
  ],
]

/** The same fault in words, with what to do. Anything else stays as it is. */
export function explainFault(error: unknown, file: string): unknown {
  const code = codeOf(error)
  const known = faults.find(([prefix]) => code.startsWith(prefix))
  // When a store is opened as well as later: what was or was not started is not for here.
  return known ? unusable(known[1](file), known[2](file), error, '') : error
}
