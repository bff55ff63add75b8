import {
  type ChildRun,
  type Effect,
  heldKinds,
  markCode,
  type OutgoingMessage,
  type RefusedWhy,
  type RunKey,
  type UnitOutcome,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import type { LeaveCancel } from './cancel.ts'
import type { Create } from './create.ts'
import { isHolding } from './hold.ts'
import type { LeaveMessage } from './message.ts'

/** What a unit changes in other runs. */
export interface OtherRuns {
  /** Returns the first effect that another run does not allow. */
  findRefusal(
    effects: readonly Effect[],
    at: number,
  ): (UnitOutcome & { readonly outcome: 'refused' }) | undefined
  create(run: ChildRun, at: number): void
  /** Leaves the message, unless the run does not take it. */
  send(message: OutgoingMessage, at: number): void
}

export function prepareOtherRuns(
  database: Database,
  { createChild }: Create,
  leave: LeaveMessage,
  leaveCancel: LeaveCancel,
): OtherRuns {
  const findRun = database.prepare<[number, string], Target>(
    `select run, state, mark, mail, (select max(n) from messages m where m.run = runs.run) as n,
       ${isHolding} as isHolding from runs where id = ?`,
  )
  const findMessage = database.prepare('select 1 from messages where run = ? and key = ?')

  /** A damaged run counts as quarantined: its owner will find the damage. */
  function refuse(
    run: Target | undefined,
    { kind, key, must }: OutgoingMessage,
  ): RefusedWhy | 'duplicate' | undefined {
    if (!run) return 'missing'
    if (key !== null && findMessage.get(run.run, key)) return 'duplicate'
    if (run.mail !== (run.n ?? 0)) return 'quarantined'
    if (run.state !== 0) return 'ended'
    if (must && kind === 'cancel' && run.mark === markCode.numberOf.quarantined) return 'quarantined'
    return must && run.isHolding === 1 && heldKinds.includes(kind) ? 'held' : undefined
  }

  return {
    findRefusal(effects, at) {
      let created: Set<string> | undefined
      // By index: this runs for every unit.
      for (let item = 0; item < effects.length; item++) {
        const effect = effects[item] as Effect
        if (effect.do === 'create-run') {
          const { id } = effect.run
          created ??= new Set()
          if (findRun.get(at, id) || created.has(id)) return { outcome: 'refused', item, why: 'exists' }
          created.add(id)
        } else if (effect.do === 'send' && effect.message.must) {
          const why = refuse(findRun.get(at, effect.message.run), effect.message)
          if (why !== undefined && why !== 'duplicate') return { outcome: 'refused', item, why }
        }
      }
      return undefined
    },
    create: (run, at) => void createChild(run, at),
    send(message, at) {
      const { run: id, kind, name, key, by, payload } = message
      const found = findRun.get(at, id)
      if (!found || refuse(found, message) !== undefined) return
      if (kind === 'cancel') leaveCancel(found.run, payload, at)
      else leave(found.run, { at, kind, name, key, by, payload })
    },
  }
}

interface Target {
  readonly run: RunKey
  readonly state: number
  readonly mark: number
  readonly mail: number
  /** The highest number of its messages. */
  readonly n: number | null
  readonly isHolding: number
}
