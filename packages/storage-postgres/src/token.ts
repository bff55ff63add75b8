import { randomUUID } from 'node:crypto'

/**
 * Returns a token that identifies one attempt. Uses Node's cached random bits, because a system call takes 0.1 ms after
 * an idle period, while a caller waits.
 */
export function drawToken(): string {
  return randomUUID().replaceAll('-', '')
}

/** Returns the key of a message that was given none, by which an attempt whose reply was lost finds it. */
export function drawKey(): string {
  return `~${drawToken()}`
}

/** Returns the key that a message was given. Those of core have another prefix. */
export function givenKey(key: string | null): string | null {
  return key?.startsWith('~') ? null : key
}
