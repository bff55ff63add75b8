import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@pawl/core'
import { expect } from 'vitest'
import { bundle, temporaryFolder } from '../../bundle.ts'
import { type Acknowledged, acknowledgeNothing } from '../check.ts'
import { openStore } from '../open-store.ts'
import type { Place } from '../place.ts'
import type { KillMoment } from '../sabotage.ts'
import { WorkerProcess } from '../worker-process.ts'
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
): Promise<number> {
  const program = await bundle(new URL('../../../programs/kill-worker.ts', import.meta.url).pathname)
  try {
    for (let n = 1; ; n++) if (!(await runKilledAt(program, await makePlace(), fate, n, when))) return n - 1
  } finally {
    await rm(join(program, '..'), { recursive: true })
  }
}

async function runKilledAt(
  program: string,
  place: Place,
  fate: 'cancel' | 'fail',
  n: number,
  when: KillMoment,
): Promise<boolean> {
  const folder = await temporaryFolder()
  const args = [place.location, join(folder, 'ledger.ndjson'), '1s']
  const first = new WorkerProcess(program, args, { KILL_AT: `${n}:${when}` })
  const acknowledged = acknowledgeNothing()
  const ended = drive(place.location, fate, acknowledged)
  await Promise.race([first.ended(), ended])
  const wasKilled = !first.isRunning
  await first.kill()
  const second = new WorkerProcess(program, args)
  await ended
  await second.kill()
  const { problems } = checkTrips(await place.readRows(), args[1] as string, acknowledged)
  expect(problems, `killed ${when} write ${n}`).toEqual([])
  await rm(folder, { recursive: true })
  await place.remove()
  return wasKilled
}

async function drive(location: string, fate: 'cancel' | 'fail', acknowledged: Acknowledged): Promise<void> {
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
