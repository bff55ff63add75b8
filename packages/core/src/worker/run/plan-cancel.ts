import type { Message } from '../../ports/store/mail.ts'
import { cancelTopic, defaultGraceMs, recordCancel, recordRequest, recordTimeout } from './cancelling.ts'
import type { RunState } from './state.ts'

/** How long a cancel waits for the author's checks of earlier messages: a check that never settles must not hold it back. */
const maxCheckMs = 5_000

/**
 * Drafts a cancel that was requested, or whose time has come. Returns when the next one is due. Messages that came before a
 * request are recorded before it.
 */
export function planCancel(
  state: RunState,
  now: number,
  isHandedOut: boolean,
  request: Message | undefined,
): number | null {
  const { outbox, mailbox, continuation } = state
  if (outbox.cancels) return null
  if (request !== undefined) {
    if (!isHandedOut) return null
    const { consumes } = outbox
    const isChecked = mailbox.taken.every((n) => n > request.n || consumes.has(n))
    state.cancelWaitsSince ??= now
    const givesUpAt = state.cancelWaitsSince + maxCheckMs
    if (!isChecked && givesUpAt > now) return givesUpAt
    outbox.addCancel(recordRequest(mailbox.take([cancelTopic]) as Message))
    return null
  }
  const { graceFrom, notes, start, timeoutAt } = continuation
  if (timeoutAt !== null && graceFrom === null && state.cancelled === null) {
    if (timeoutAt > now) return timeoutAt
    if (isHandedOut) outbox.addCancel(recordTimeout())
    return null
  }
  if (graceFrom === null || notes.isForced) return null
  const endsAt = graceFrom + (start.definition.graceMs ?? defaultGraceMs)
  if (endsAt > now) return endsAt
  outbox.addCancel(recordCancel({ forced: true }))
  return null
}
