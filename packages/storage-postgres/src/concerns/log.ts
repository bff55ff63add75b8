import type { Effect, Unit, UnitOutcome, WholeStore } from '@pawl/core/storage'
import { prepareReadLog } from '../reads/log.ts'
import { prepareCommit } from '../writes/commit.ts'
import type { StoreParts } from './parts.ts'

export function createLog({ database, ownership, hints }: StoreParts): WholeStore['log'] {
  const commitUnits = prepareCommit(database, ownership)
  return {
    async commit(worker, units) {
      if (units.length === 0) return []
      const outcomes = await commitUnits(worker, units)
      if (units.some((unit, i) => isAwaited(unit) || isHandedOver(unit, outcomes[i]))) hints.send()
      return outcomes
    },
    load: prepareReadLog(database),
  }
}

/** Parked and due at once: another worker should claim it. */
function isHandedOver({ next }: Unit, outcome: UnitOutcome | undefined): boolean {
  if (next.do !== 'park' || outcome?.outcome !== 'ok') return false
  return outcome.parked && next.wakeAt !== null && next.wakeAt <= outcome.at
}

/** Whether to NOTIFY for an effect. Readers of exposed values poll. */
const isAwaitedEffect: { readonly [Kind in Effect['do']]: boolean } = {
  'open-ask': true,
  'close-ask': true,
  consume: false,
  'create-run': true,
  send: true,
  reply: true,
  'give-back': false,
  checkpoint: false,
  notify: true,
  expose: false,
  'begin-generation': false,
  show: false,
}

/** Returns whether another process may wait for the unit: for the end of the run, or for an effect. */
function isAwaited({ effects, next }: Unit): boolean {
  if (next.do === 'end') return true
  return effects.some((effect) => isAwaitedEffect[effect.do])
}
