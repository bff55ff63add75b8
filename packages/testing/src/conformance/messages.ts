import type { Answered, Cancelled, Message, Sent } from '@pawl/core/storage'
import { text } from './builders.ts'

/** The message as reported to its sender; null if another client left it. */
export function messageOf(outcome: Sent | Answered | Cancelled): unknown {
  return 'message' in outcome && outcome.message !== null ? comparable(outcome.message) : null
}

/** Bytes as text: whether they come in an array of a kind of the driver's is its own affair. */
export function comparable(message: Message): unknown {
  return { ...message, payload: message.payload && text(message.payload) }
}
