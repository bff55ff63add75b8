import { heldKinds, type NewMessage, type RunKey, refuseMessage, type Sent } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { isHolding } from './hold.ts'
import type { LeaveMessage } from './message.ts'

export type Send = (message: NewMessage, at: number) => Sent

export function prepareSend(database: Database, leave: LeaveMessage): Send {
  const findRun = database.prepare<[number, string], { run: RunKey; state: number; isHolding: number }>(
    `select run, state, ${isHolding} as isHolding from runs where id = ?`,
  )
  const findMessage = database.prepare('select 1 from messages where run = ? and key = ?')
  const findAsk = database
    .prepare<[RunKey, string], number>('select position from asks where run = ? and key = ?')
    .pluck()
  return ({ run: id, kind, name, key, by, payload }, at) => {
    const found = findRun.get(at, id)
    if (!found) return { outcome: 'missing' }
    const { run, state } = found
    // A repeated message is acknowledged again, whatever the state of the run.
    if (key !== null && findMessage.get(run, key))
      return { outcome: 'duplicate', run, message: null, claimed: null }
    const position = kind === 'early' ? findAsk.get(run, name) : undefined
    if (position !== undefined) return { outcome: 'asked', position }
    if (state !== 0) return refuseMessage(state)
    if (found.isHolding === 1 && heldKinds.includes(kind)) return { outcome: 'held' }
    const message = leave(run, { at, kind, name, key, by, payload })
    return { outcome: 'stored', run, message, claimed: null }
  }
}
