import { check } from '../base/check.ts'
import { type Cost, costOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import type { Place } from '../places/place.ts'
import { arrivals, executed, rewound, sumOf } from '../procedures.ts'
import { type Figures, type Job, startEngine, Tally } from './workload.ts'

/**
 * A run with a long log waits; an engine that knows nothing of it yet hears a signal for it. How long from
 * there until the procedure goes on, less the same for a log without steps: reading, checking, decoding
 * and replaying the events.
 */
export async function replayFromStore({ address, rounds, size: events = 1_000 }: Job): Promise<Figures> {
  const place = openPlace(address)
  await place.record((store) => recordLogs(store, events))
  const tally = new Tally()
  for (let round = -1; round < rounds; round++) {
    const short = await wake(place, 'short', 0)
    const long = await wake(place, 'long', events)
    if (round < 0) tally.add({ firstMs: long.ms })
    else
      tally.add({
        eventsPerSecond: (events / (long.ms - short.ms)) * 1_000,
        nsPerEvent: ((long.ms - short.ms) / events) * 1e6,
        cpuNsPerEvent: ((long.cpuMs - short.cpuMs) / events) * 1e6,
        totalMs: long.ms,
      })
  }
  return tally.figures
}

async function recordLogs(place: Pick<Place, 'store'>, events: number): Promise<void> {
  const engine = await startEngine(place)
  await engine.run(rewound, 0, { id: 'short' })
  await engine.run(rewound, events, { id: 'long' })
  // They answer when they have done all their steps.
  for (const id of ['short', 'long']) {
    const arrived = arrivals.next(id)
    await engine.get(rewound, id).signal('go')
    await arrived
  }
  await engine.stop()
}

async function wake(place: Place, id: string, events: number): Promise<Cost> {
  const engine = await startEngine(place)
  const arrived = arrivals.next(id)
  const before = executed.steps
  const cost = await costOf(async () => {
    await engine.get(rewound, id).signal('go')
    check('the sum of all steps', await arrived, sumOf(events))
  })
  check('steps that ran again', executed.steps - before, 0)
  await engine.stop()
  return cost
}
