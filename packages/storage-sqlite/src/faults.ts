import { dirname } from 'node:path'
import { docsPage, PawlError } from '@pawl/core/storage'
import { unusable } from './unusable.ts'

/** Names of the result codes that matter here. better-sqlite3 gives the name, node:sqlite the number. */
const codeNames: ReadonlyMap<number, string> = new Map([
  [5, 'SQLITE_BUSY'],
  [6, 'SQLITE_LOCKED'],
  [8, 'SQLITE_READONLY'],
  [10, 'SQLITE_IOERR'],
  [4874, 'SQLITE_IOERR_SHMSIZE'],
  [11, 'SQLITE_CORRUPT'],
  [13, 'SQLITE_FULL'],
  [14, 'SQLITE_CANTOPEN'],
  [19, 'SQLITE_CONSTRAINT'],
  [1555, 'SQLITE_CONSTRAINT_PRIMARYKEY'],
  [2067, 'SQLITE_CONSTRAINT_UNIQUE'],
  [20, 'SQLITE_MISMATCH'],
  [26, 'SQLITE_NOTADB'],
])

/** Returns the name of the result code of a SQLite error, or an empty string for other errors. */
function codeOf(error: unknown): string {
  const { code, errcode } = Object(error) as { readonly code?: unknown; readonly errcode?: unknown }
  // The lower eight bits of an extended code are the code that it extends.
  if (code === 'ERR_SQLITE_ERROR' && typeof errcode === 'number')
    return codeNames.get(errcode) ?? codeNames.get(errcode & 255) ?? ''
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : ''
}

export function isFull(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_FULL'
}

/** Returns whether another connection has the lock. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  return code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED'
}

/** Returns whether the file that was read is damaged, or not a database. */
export function isDamaged(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_CORRUPT') || codeOf(error) === 'SQLITE_NOTADB'
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

/** Explains why a new file could not be written. */
export function explainCreation(error: unknown, file: string): unknown {
  const explained = explainFault(error, file)
  if (explained !== error || PawlError.is(error)) return explained
  return unusable(
    `Creating ${file} failed: ${(error as Error).message}.`,
    `Give this user write access to ${dirname(file)}, and check whether its disk is full or read-only.`,
    error,
  )
}
