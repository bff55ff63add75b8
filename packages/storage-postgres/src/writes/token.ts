import { randomUUID } from 'node:crypto'

/**
 * Tells one attempt from all others. Of Node's store of random bits: to ask the system for some takes a tenth of a
 * millisecond after a rest, and somebody waits.
 */
export function drawToken(): string {
  return randomUUID().replaceAll('-', '')
}
