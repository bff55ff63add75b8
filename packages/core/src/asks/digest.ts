import type { Sha256 } from '../base/hash.ts'

/** What a person is shown of an ask, as it is stored. */
interface ShownAsk {
  readonly run: string
  readonly procedure: string
  readonly startedBy: string | null
  readonly position: number
  readonly payload: Uint8Array
}

/** 128 bits: no one can find another question with the same digest. */
const digits = 32

/**
 * Returns the digest of what people are shown of an ask: of its run and its payload, which is fixed when the ask is created. Whom it
 * is escalated to, and what else time changes, is not part of it.
 */
export function digestOf(sha256: Sha256, { run, procedure, startedBy, position, payload }: ShownAsk): string {
  const head = new TextEncoder().encode(JSON.stringify([run, procedure, startedBy, position]))
  const shown = new Uint8Array(head.length + payload.length)
  shown.set(head)
  shown.set(payload, head.length)
  return toHex(sha256(shown)).slice(0, digits)
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
