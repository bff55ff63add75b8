import {
  type ChildRun,
  heldKinds,
  type OutgoingMessage,
  type Unit,
  type UnitOutcome,
} from '@pawl/core/storage'
import type { RunRecord, Tables } from '../tables.ts'
import { leaveCancel } from './cancel.ts'
import { createRun } from './create.ts'
import { isHolding } from './hold.ts'
import { findDamage, leaveMessage } from './message.ts'

// What a unit changes in other runs.

/** Returns the first effect that another run does not allow. */
export function findRefusal(
  tables: Tables,
  { effects }: Unit,
  now: number,
): (UnitOutcome & { readonly outcome: 'refused' }) | undefined {
  const created = new Set<string>()
  for (const [item, effect] of effects.entries()) {
    if (effect.do === 'create-run') {
      const { id } = effect.run
      if (tables.runs.has(id) || created.has(id)) return { outcome: 'refused', item, why: 'exists' }
      created.add(id)
    } else if (effect.do === 'send' && effect.message.must) {
      const why = refuseMessage(tables.runs.get(effect.message.run), effect.message, now)
      if (why !== undefined && why !== 'duplicate') return { outcome: 'refused', item, why }
    }
  }
  return undefined
}

export function createChild(tables: Tables, { parent, ...run }: ChildRun, at: number): void {
  createRun(tables, { ...run, worker: null }, at, parent)
}

/** Leaves the message, unless the run does not take it. */
export function sendOut(tables: Tables, message: OutgoingMessage, at: number): void {
  const { run: id, kind, name, key, by, payload } = message
  const run = tables.runs.get(id)
  if (run === undefined || refuseMessage(run, message, at) !== undefined) return
  if (kind === 'cancel') leaveCancel(run, payload, at)
  else leaveMessage(run, { at, kind, name, key, by, payload })
}

/** A damaged run counts as quarantined: its owner will find the damage. */
function refuseMessage(
  run: RunRecord | undefined,
  { kind, key, must }: OutgoingMessage,
  now: number,
): 'missing' | 'duplicate' | 'ended' | 'quarantined' | 'held' | undefined {
  if (!run) return 'missing'
  if (key !== null && run.messages.some((message) => message.key === key)) return 'duplicate'
  if (findDamage(run)) return 'quarantined'
  if (run.state !== 'live') return 'ended'
  if (must && kind === 'cancel' && run.mark === 'quarantined') return 'quarantined'
  return must && heldKinds.includes(kind) && isHolding(run, now) ? 'held' : undefined
}
