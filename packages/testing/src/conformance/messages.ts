import type { Answered, Cancelled, Message, Sent } from '@pawl/core/storage'
import { text } from './builders.ts'

/** Returns the message as reported to its sender; null if another client sent it. */
export function messageOf(outcome: Sent | Answered | Cancelled): unknown {
  return 'message' in outcome && outcome.message !== null ? comparable(outcome.message) : null
}

/** Returns bytes as text, because drivers use different array types. */
export function comparable(message: Message): unknown {
  return { ...message, payload: message.payload && text(message.payload) }
}
