import type { RunVerb } from '../../base/words.ts'
import { findHolder } from '../../ports/held-runs.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { hasRunUndos } from '../../runs/cut.ts'
import { infoOf } from '../views/run.ts'
import type { Possibility, RunFacts } from '../views/views.ts'
import { isReleasable } from './retry.ts'

type Judge = (row: KnownRun, store: StorePort) => Possibility | Promise<Possibility>

const possible: Possibility = { ok: true }

function not(why: string): Possibility {
  return { ok: false, why }
}

/** Judges what each verb would refuse, by the row of the run; a missing verb is a type error. */
const judges: { readonly [V in RunVerb]: Judge } = {
  retry(row) {
    const { state, mark, owned } = row
    if (state === 'completed' || state === 'cancelled')
      return not('Only a failed run is retried. Fork it to repeat a part of its work.')
    if (state === 'failed')
      return hasRunUndos(infoOf(row).rollback)
        ? not('It has undone its steps. Start a run with a different id.')
        : possible
    if (mark === 'none') return not('It continues by itself.')
    if (owned) return not('A worker is trying it now.')
    return mark === 'quarantined' && !isReleasable(row) ? not('Its log is damaged.') : possible
  },
  cancel(row) {
    if (row.state !== 'live') return not('It has ended.')
    if (row.mark === 'quarantined') return not('Nothing is written to a quarantined run.')
    const isRequested = row.cancelAt !== null || infoOf(row).cancelled !== undefined
    return isRequested ? not('Its cancel was requested before.') : possible
  },
  signal: ({ state }) => (state === 'live' ? possible : not('It has ended.')),
  fork: ({ mark, cause }) =>
    mark === 'quarantined' && cause === 'damage' ? not('Its log is damaged.') : possible,
  async delete(row, store) {
    if (row.state === 'live')
      return row.mark === 'quarantined' && !row.owned
        ? possible
        : not('It has not ended. Cancel it first, and wait until it has ended.')
    const holder = await findHolder(store, row)
    return holder === null ? possible : not(`Its parent ${holder} is live and may ask for its result.`)
  },
}

/** Says what can be done with a run, as far as its row and that of its parent tell. */
export async function possibilitiesOf(store: StorePort, row: KnownRun): Promise<RunFacts['can']> {
  const judged = Object.entries(judges).map(async ([verb, judge]) => [verb, await judge(row, store)] as const)
  return Object.fromEntries(await Promise.all(judged)) as RunFacts['can']
}
