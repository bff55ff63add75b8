import { type Cancelled, cancelKey, type Message, type NewCancel } from '@pawl/core/storage'
import type { RunRecord, Tables } from '../tables.ts'
import { findDamage, leaveMessage } from './message.ts'

export function requestCancel(tables: Tables, { run: id, payload }: NewCancel, at: number): Cancelled {
  const run = tables.runs.get(id)
  if (!run) return { outcome: 'missing' }
  if (run.messages.some(({ key }) => key === cancelKey))
    return { outcome: 'duplicate', run: run.run, message: null, claimed: null }
  const damaged = findDamage(run)
  if (damaged) return damaged
  if (run.state !== 'live') return { outcome: 'ended', state: run.state }
  if (run.mark === 'quarantined') return { outcome: 'quarantined' }
  const message = leaveCancel(run, payload, at)
  return { outcome: 'stored', run: run.run, message, claimed: null }
}

/** Leaves a request in a live run that has none. A stuck run is woken as well: it can be ended without its code. A quarantined one is not. */
export function leaveCancel(run: RunRecord, payload: Uint8Array | null, at: number): Message {
  const message = leaveMessage(run, { at, kind: 'cancel', name: '', key: cancelKey, by: null, payload })
  run.cancelAt = at
  if (run.worker === null && run.mark !== 'quarantined') run.wakeAt = Math.min(run.wakeAt ?? at, at)
  return message
}
