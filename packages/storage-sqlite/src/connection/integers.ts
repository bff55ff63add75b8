import { RowCorrupt } from '@pawl/core/storage'

/**
 * An integer as it was read. The driver rounds integers beyond 2^53, and whatever it rounded lies outside
 * the safe range, so that nothing rounded gets through.
 */
export function checkInteger(stored: number): number {
  if (!Number.isSafeInteger(stored))
    throw new RowCorrupt(`the file has the number ${stored}, which is beyond 2^53`)
  return stored
}
