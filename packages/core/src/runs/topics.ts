import { readAskSlot } from '../ports/ask-slot.ts'
import type { Message } from '../ports/store/mail.ts'

/** Returns the topic of a message, by which operations wait for it. */
export function topicOf(kind: Message['kind'], name: string): string {
  return `${kind} ${name}`
}

/** Whether the topic is an early answer. */
export function isEarly(topic: string): boolean {
  return topic.startsWith('early ')
}

/**
 * Returns the position of the operation that a message of this topic is for: an answer to an ask, or the end of a run. Null
 * if any operation may take it.
 */
export function positionOf(topic: string): number | null {
  if (topic.startsWith('answer ')) return readAskSlot(Number(topic.slice('answer '.length))).position
  return isEndOfOther(topic) ? Number(topic.slice('ended '.length)) : null
}

/** Whether the topic is the end of another run. */
export function isEndOfOther(topic: string): boolean {
  return topic.startsWith('ended ')
}
