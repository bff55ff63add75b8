import { randomUUID } from 'node:crypto'

/**
 * Returns a token that identifies one attempt. Uses Node's cached random bits, because a system call takes 0.1 ms after
 * an idle period, while a caller waits.
 */
export function drawToken(): string {
  return randomUUID().replaceAll('-', '')
}
