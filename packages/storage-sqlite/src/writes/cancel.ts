import {
  type Cancelled,
  cancelKey,
  markCode,
  type NewCancel,
  type RunKey,
  refuseMessage,
} from '@pawl/core/storage'
import type { Database } from 'better-sqlite3'
import type { LeaveMessage } from './message.ts'

export type Cancel = (request: NewCancel, at: number) => Cancelled

export function prepareCancel(database: Database, leave: LeaveMessage): Cancel {
  const findRun = database.prepare<[string], { run: RunKey; state: number; mark: number }>(
    'select run, state, mark from runs where id = ?',
  )
  const findMessage = database.prepare('select 1 from messages where run = ? and key = ?')
  // A stuck run is woken as well: it can be ended without its code.
  const note = database.prepare(
    `update runs set cancel_at = ?, wake_at = iif(worker is null, min(coalesce(wake_at, ?), ?), wake_at)
     where run = ?`,
  )
  return ({ run: id, payload }, at) => {
    const found = findRun.get(id)
    if (!found) return { outcome: 'missing' }
    const { run, state, mark } = found
    if (findMessage.get(run, cancelKey)) return { outcome: 'duplicate', run, message: null, claimed: null }
    if (state !== 0) return refuseMessage(state)
    if (mark === markCode.numberOf.quarantined) return { outcome: 'quarantined' }
    const message = leave(run, { at, kind: 'cancel', name: '', key: cancelKey, payload })
    note.run(at, at, at, run)
    return { outcome: 'stored', run, message, claimed: null }
  }
}
