import { statSync } from 'node:fs'
import type { Database } from './database.ts'

/** Length from which a -wal is too long: a long read transaction keeps checkpoints from completing. */
const longWalBytes = 64 * 1024 * 1024

/**
 * Moves a long -wal into the file. If a reader of another process prevents it, the -wal stays, and writes continue.
 * Returns whether the -wal is still too long.
 */
export function shortenWal(database: Database, file: string, longBytes: number = longWalBytes): boolean {
  if (sizeOf(file) <= longBytes) return false
  database.pragma('wal_checkpoint(truncate)')
  return sizeOf(file) > longBytes
}

function sizeOf(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
