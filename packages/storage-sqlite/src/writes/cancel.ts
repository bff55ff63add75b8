import {
  type Cancelled,
  cancelKey,
  type Message,
  markCode,
  type NewCancel,
  type RunKey,
  refuseMessage,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { LeaveMessage } from './message.ts'

export type Cancel = (request: NewCancel, at: number) => Cancelled

/** Leaves a request in a live run that has none. */
export type LeaveCancel = (run: RunKey, payload: Uint8Array | null, at: number) => Message

export function prepareLeaveCancel(database: Database, leave: LeaveMessage): LeaveCancel {
  // A stuck run is woken as well: it can be ended without its code. A quarantined one is not.
  const note = database.prepare(
    `update runs set cancel_at = ?,
       wake_at = iif(worker is null and mark <> ${markCode.numberOf.quarantined}, min(coalesce(wake_at, ?), ?), wake_at)
     where run = ?`,
  )
  return (run, payload, at) => {
    const message = leave(run, { at, kind: 'cancel', name: '', key: cancelKey, by: null, payload })
    note.run(at, at, at, run)
    return message
  }
}

export function prepareCancel(database: Database, leaveCancel: LeaveCancel): Cancel {
  const findRun = database.prepare<[string], { run: RunKey; state: number; mark: number }>(
    'select run, state, mark from runs where id = ?',
  )
  const findMessage = database.prepare('select 1 from messages where run = ? and key = ?')
  return ({ run: id, payload }, at) => {
    const found = findRun.get(id)
    if (!found) return { outcome: 'missing' }
    const { run, state, mark } = found
    if (findMessage.get(run, cancelKey)) return { outcome: 'duplicate', run, message: null, claimed: null }
    if (state !== 0) return refuseMessage(state)
    if (mark === markCode.numberOf.quarantined) return { outcome: 'quarantined' }
    const message = leaveCancel(run, payload, at)
    return { outcome: 'stored', run, message, claimed: null }
  }
}
