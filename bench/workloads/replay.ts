import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { type Cost, costOf } from '../base/clock.ts'
import { spreadOf } from '../base/statistics.ts'
import { openPlace } from '../places/open-place.ts'
import type { Place } from '../places/place.ts'
import { arrivals, executed, rewound, sumOf } from '../procedures.ts'
import { type Figures, type Job, roundsOf, startEngine, Tally } from './workload.ts'

/**
 * A run with a long log waits; an engine that knows nothing of it yet hears a signal for it. How long from
 * there until the procedure goes on, less the same for a log without steps: reading, checking, decoding
 * and replaying the events. Of a log too short to tell it from none, only how long it took.
 */
export async function replayFromStore(job: Job, line: Line): Promise<Figures> {
  const { address, size: events = 1_000 } = job
  const place = openPlace(address)
  await place.record((store) => recordLogs(store, events))
  await wake(place, 'short', 0)
  const first = await wake(place, 'long', events)
  const [shorts, longs]: [Cost[], Cost[]] = [[], []]
  for await (const _ of roundsOf(job, line)) {
    shorts.push(await wake(place, 'short', 0))
    longs.push(await wake(place, 'long', events))
  }
  const tally = new Tally()
  tally.add({ firstMs: first.ms })
  for (const { ms, cpuMs } of longs) tally.add({ totalMs: ms, totalCpuMs: cpuMs })
  for (const ms of addedTo(shorts, longs, 'ms'))
    tally.add({ eventsPerSecond: (events / ms) * 1_000, nsPerEvent: (ms / events) * 1e6 })
  for (const ms of addedTo(shorts, longs, 'cpuMs')) tally.add({ cpuNsPerEvent: (ms / events) * 1e6 })
  return tally.figures
}

/** From where on what the events add counts for more than what the base varies. */
const clearly = 1.5

/**
 * What the events add to the median of all rounds without them: a difference of two rounds is mostly that of
 * their luck. Nothing where a round is not clearly above that.
 */
function addedTo(shorts: readonly Cost[], longs: readonly Cost[], what: 'ms' | 'cpuMs'): readonly number[] {
  const base = spreadOf(shorts.map((cost) => cost[what])).median
  const all = longs.map((cost) => cost[what])
  return Math.min(...all) > clearly * base ? all.map((one) => one - base) : []
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
