import { encodeRecord } from '../../../events/payload.ts'
import type { ReplyPayload } from '../../../events/payloads.ts'
import type { Effect } from '../../../ports/store/log.ts'

/** Answers the update whose message has the number `n`. */
export function replyEffect(n: number, reply: ReplyPayload): Effect {
  return { do: 'reply', n, payload: encodeRecord(reply, 'reply') }
}
