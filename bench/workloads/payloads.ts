import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { type Cost, costOf, timeOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import { carrying, textOf } from '../procedures.ts'
import {
  costPerStep,
  type Figures,
  type Job,
  openRawBeside,
  roundsOf,
  startEngine,
  Tally,
  warmUpFor,
} from './workload.ts'

/** Sequential steps that return so many bytes of text, beside raw commits of one row of that size. */
export async function carryPayloads(job: Job, line: Line): Promise<Figures> {
  const bytes = job.size ?? 1_024
  const steps = Math.max(10, Math.min(1_000, Math.floor(2 ** 22 / bytes)))
  const place = openPlace(job.address)
  const engine = await startEngine(place)
  const raw = await openRawBeside(place, job)
  const payload = Buffer.from(textOf(bytes))
  const tally = new Tally()
  const once = async (): Promise<Cost> => {
    let id = ''
    const cost = await costOf(async () => {
      const run = await engine.run(carrying, { steps, bytes })
      check('the sum of all lengths', await run.result(), steps * bytes)
      id = run.id
    }, job.compared?.server)
    const { execution_log: entries } = await engine.log(id)
    check('recorded steps', entries.filter(({ result }) => result === textOf(bytes)).length, steps)
    return cost
  }
  await raw?.write(steps, payload)
  await warmUpFor(job, once)
  for await (const _ of roundsOf(job, line)) {
    const before = await place.diskBytes()
    const rawMs = await timeOf(() => raw?.write(steps, payload))
    const cost = await once()
    tally.add({
      stepsPerSecond: (steps / cost.ms) * 1_000,
      mbPerSecond: ((steps * bytes) / 2 ** 20 / cost.ms) * 1_000,
      ...costPerStep(cost, steps),
      diskPerByte: ((await place.diskBytes()) - before) / (steps * bytes),
    })
    if (raw !== null) tally.add({ ratio: rawMs / cost.ms })
  }
  await raw?.close()
  await engine.stop()
  return tally.figures
}
