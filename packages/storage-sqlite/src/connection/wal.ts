import { statSync } from 'node:fs'
import type { Database } from 'better-sqlite3'

/** A -wal this long means that checkpoints cannot get through: some reader has been in one transaction for long. */
const longWalBytes = 64 * 1024 * 1024

/**
 * Moves a -wal that has become long into the file. While a reader of another process is in the way it stays
 * as it is, and writing goes on; returns whether it is still too long.
 */
export function shortenWal(database: Database, file: string, longBytes: number = longWalBytes): boolean {
  if (sizeOf(file) <= longBytes) return false
  database.pragma('wal_checkpoint(truncate)')
  return sizeOf(file) > longBytes
}

function sizeOf(file: string): number {
  return statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0
}
