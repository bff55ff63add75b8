import { signal } from '@preact/signals'
import { countAsks } from '../api/calls.ts'
import { currentGrant, noteEnded } from '../session.ts'

/** How many open asks wait for the user, such as `12` or `1,000+`; '' for none. Who answers nothing is shown how many wait for others. */
export const openAsks = signal('')

export async function countOpenAsks(): Promise<void> {
  try {
    const { count, capped } = await countAsks({ mine: currentGrant().answers ? true : undefined })
    openAsks.value = count === 0 ? '' : `${new Intl.NumberFormat('en').format(count)}${capped ? '+' : ''}`
  } catch (error) {
    noteEnded(error)
  }
}
