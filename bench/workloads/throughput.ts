import type { Engine } from '@pawl/core'
import type { Line } from '../actor.ts'
import { check } from '../base/check.ts'
import { type Cost, costOf, timeOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import { fan, sequence, sumOf } from '../procedures.ts'
import { checkSteps } from './recorded.ts'
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

/** W1: one run of 1,000 sequential steps, beside 1,000 raw commits of one row: half of them before, half after. */
export async function runSequence(job: Job, line: Line): Promise<Figures> {
  const steps = job.size ?? 1_000
  const place = openPlace(job.address)
  const engine = await startEngine(place)
  const raw = await openRawBeside(place, job)
  const tally = new Tally()
  await raw?.write(steps)
  await warmUpFor(job, async () => checkLogs(engine, await runAll(engine, 1, steps), steps))
  for await (const _ of roundsOf(job, line)) {
    const before = await costOf(() => raw?.write(steps / 2))
    let ids: readonly string[] = []
    const cost = await costOf(async () => {
      ids = await runAll(engine, 1, steps)
    }, job.compared?.server)
    const after = await costOf(() => raw?.write(steps / 2))
    await checkLogs(engine, ids, steps)
    tally.add({ stepsPerSecond: (steps / cost.ms) * 1_000, ...costPerStep(cost, steps) })
    if (raw === null) continue
    const rawMs = before.ms + after.ms
    tally.add({
      rawPerSecond: (steps / rawMs) * 1_000,
      ratio: rawMs / cost.ms,
      rawCpuUsPerRow: ((before.cpuMs + after.cpuMs) / steps) * 1_000,
    })
  }
  await raw?.close()
  await engine.stop()
  return tally.figures
}

/** W2: 200 runs of 10 steps, all at once. */
export async function runMany(job: Job, line: Line): Promise<Figures> {
  const [runs, steps] = [job.size ?? 200, 10]
  const place = openPlace(job.address)
  const engine = await startEngine(place)
  const raw = await openRawBeside(place, job)
  const tally = new Tally()
  await warmUpFor(job, async () => checkLogs(engine, await runAll(engine, runs, steps), steps))
  await raw?.write(1_000)
  for await (const _ of roundsOf(job, line)) {
    const bytes = await place.diskBytes()
    const rawMs = await timeOf(() => raw?.write(1_000))
    let ids: readonly string[] = []
    const cost = await costOf(async () => {
      ids = await runAll(engine, runs, steps)
    }, job.compared?.server)
    await checkLogs(engine, ids, steps)
    tally.add({
      stepsPerSecond: ((runs * steps) / cost.ms) * 1_000,
      ...costPerStep(cost, runs * steps),
      diskBytesPerStep: ((await place.diskBytes()) - bytes) / (runs * steps),
    })
    if (raw === null) continue
    tally.add({ rawPerSecond: 1e6 / rawMs, ratio: (runs * steps * rawMs) / cost.ms / 1_000 })
  }
  await raw?.close()
  await engine.stop()
  return tally.figures
}

/** W3: one run that begins 500 steps at once. */
export async function runFan(job: Job, line: Line): Promise<Figures> {
  const steps = job.size ?? 500
  const engine = await startEngine(openPlace(job.address))
  const tally = new Tally()
  const once = async (): Promise<Cost> => {
    let id = ''
    const cost = await costOf(async () => {
      const run = await engine.run(fan, steps)
      check('the sum of all steps', await run.result(), sumOf(steps))
      id = run.id
    }, job.compared?.server)
    await checkSteps(engine, id, steps)
    return cost
  }
  await warmUpFor(job, once)
  for await (const _ of roundsOf(job, line)) {
    const cost = await once()
    tally.add({ totalMs: cost.ms, ...costPerStep(cost, steps) })
  }
  await engine.stop()
  return tally.figures
}

async function runAll(engine: Engine, runs: number, steps: number): Promise<readonly string[]> {
  const started = await Promise.all(Array.from({ length: runs }, () => engine.run(sequence, steps)))
  for (const run of started) check('the sum of all steps', await run.result(), sumOf(steps))
  return started.map(({ id }) => id)
}

/** Results alone could be made up: what counts is what the store has. */
async function checkLogs(engine: Engine, ids: readonly string[], steps: number): Promise<void> {
  for (const id of ids) await checkSteps(engine, id, steps)
}
