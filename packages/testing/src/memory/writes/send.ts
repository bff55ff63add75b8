import { heldKinds, type NewMessage, type Sent } from '@pawl/core/storage'
import type { Tables } from '../tables.ts'
import { isHolding } from './hold.ts'
import { findDamage, leaveMessage } from './message.ts'

export function sendMessage(
  tables: Tables,
  { run: id, kind, name, key, by, payload }: NewMessage,
  at: number,
): Sent {
  const run = tables.runs.get(id)
  if (!run) return { outcome: 'missing' }
  if (key !== null && run.messages.some((message) => message.key === key)) {
    return { outcome: 'duplicate', run: run.run, message: null, claimed: null }
  }
  const damaged = findDamage(run)
  if (damaged) return damaged
  const asked = kind === 'early' ? run.asksByKey.get(name) : undefined
  if (asked) return { outcome: 'asked', position: asked.position }
  if (run.state !== 'live') return { outcome: 'ended', state: run.state }
  if (heldKinds.includes(kind) && isHolding(run, at)) return { outcome: 'held' }
  const message = leaveMessage(run, { at, kind, name, key, by, payload })
  return { outcome: 'stored', run: run.run, message, claimed: null }
}
