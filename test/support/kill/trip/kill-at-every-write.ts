import { createClient } from '@pawl/core'
import { expect } from 'vitest'
import type { Acknowledged } from '../check.ts'
import { killAtWrites } from '../kill-at-every-write.ts'
import { openStore } from '../open-store.ts'
import type { Place } from '../place.ts'
import type { KillMoment } from '../sabotage.ts'
import { checkTrips } from './check-trips.ts'
import { fateOf, fates, makeTrip } from './trip.ts'

const id = 'trip'

/**
 * Runs a trip once for every write of a worker: the worker kills itself around that write, and a second one finishes what is
 * left. A trip that is to be cancelled is cancelled while its ask is open. Returns how many workers were killed.
 */
export async function killAtEveryWrite(
  makePlace: () => Promise<Place>,
  fate: 'cancel' | 'fail',
  when: KillMoment,
  /** 3 leaves out two of three writes. */
  step = 1,
): Promise<number> {
  const drive = (location: string, acknowledged: Acknowledged) => driveTrip(location, fate, acknowledged)
  const { killed, problems } = await killAtWrites({
    makePlace,
    when,
    step,
    run: { drive, check: checkTrips },
  })
  expect(problems).toEqual([])
  return killed
}

async function driveTrip(
  location: string,
  fate: 'cancel' | 'fail',
  acknowledged: Acknowledged,
): Promise<void> {
  const client = createClient({ store: openStore(location) })
  const n = fates.indexOf(fate)
  expect(fateOf(n)).toBe(fate)
  const run = await client.run(makeTrip(''), { n }, { id: `${id} ${n}` })
  acknowledged.runs.add(run.id)
  if (fate === 'cancel') {
    await client.inbox.next({ run: run.id })
    await run.cancel('changed my mind')
    acknowledged.cancels.add(run.id)
  } else {
    await run.signal('paid', { cents: 101 }, { id: 'payment' })
    acknowledged.signals.set(run.id, 101)
  }
  const code = fate === 'cancel' ? 'run-cancelled' : 'run-failed'
  await expect(run.result()).rejects.toMatchObject({ code })
  await client.stop()
}
