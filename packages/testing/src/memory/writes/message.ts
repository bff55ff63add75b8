import { type Damaged, type Message, stateCode } from '@pawl/core/storage'
import { copy, type RunRecord } from '../tables.ts'

export function leaveMessage(
  run: RunRecord,
  { key, ...message }: Omit<Message, 'n'> & { readonly key: string | null },
): Message {
  const n = ++run.mail
  run.messages.push({ ...message, key, n, isUsed: false, payload: copy(message.payload) })
  if (run.worker === null && run.mark === 'none') run.wakeAt = Math.min(run.wakeAt ?? message.at, message.at)
  return { ...message, n, payload: copy(message.payload) }
}

/** Returns the damage that a test has done to the record. Memory never damages a record by itself. */
export function findDamage({ state, mail, messages }: RunRecord): Damaged | undefined {
  if (!(state in stateCode.numberOf)) return { outcome: 'damaged', why: `its state is ${String(state)}` }
  const newest = messages.at(-1)?.n ?? 0
  if (mail === newest) return undefined
  return { outcome: 'damaged', why: `it counts ${mail} messages, and its newest has number ${newest}` }
}
