import { RowCorrupt } from '@pawl/core/storage'

/**
 * Checks an integer that was read. The driver rounds integers beyond 2^53; a rounded value is outside the safe range, so
 * the check rejects it.
 */
export function checkInteger(stored: number): number {
  if (!Number.isSafeInteger(stored))
    throw new RowCorrupt(`the file contains the number ${stored}, which is beyond 2^53`)
  return stored
}
