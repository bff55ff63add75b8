import type { Engine } from '@pawl/core'
import { check } from '../base/check.ts'
import { type Cost, costOf, timeOf } from '../base/clock.ts'
import { warmUp } from '../base/pace.ts'
import { openPlace } from '../places/open-place.ts'
import { fan, sequence, sumOf } from '../procedures.ts'
import { checkSteps } from './recorded.ts'
import { type Figures, type Job, startEngine, Tally } from './workload.ts'

/** W1: one run of 1,000 sequential steps, beside 1,000 raw commits of one row: half of them before, half after. */
export async function runSequence({ address, rounds, size: steps = 1_000 }: Job): Promise<Figures> {
  const place = openPlace(address)
  const engine = await startEngine(place)
  const raw = await place.openRaw()
  const tally = new Tally()
  await raw.write(steps)
  await warmUp(async () => checkLogs(engine, await runAll(engine, 1, steps), steps))
  for (let round = 0; round < rounds; round++) {
    const before = await costOf(() => raw.write(steps / 2))
    let ids: readonly string[] = []
    const { ms, cpuMs } = await costOf(async () => {
      ids = await runAll(engine, 1, steps)
    })
    const after = await costOf(() => raw.write(steps / 2))
    await checkLogs(engine, ids, steps)
    const rawMs = before.ms + after.ms
    tally.add({
      stepsPerSecond: (steps / ms) * 1_000,
      rawPerSecond: (steps / rawMs) * 1_000,
      ratio: rawMs / ms,
      cpuUsPerStep: (cpuMs / steps) * 1_000,
      rawCpuUsPerRow: ((before.cpuMs + after.cpuMs) / steps) * 1_000,
    })
  }
  await raw.close()
  await engine.stop()
  return tally.figures
}

/** W2: 200 runs of 10 steps, all at once. */
export async function runMany({ address, rounds, size: runs = 200 }: Job): Promise<Figures> {
  const steps = 10
  const place = openPlace(address)
  const engine = await startEngine(place)
  const raw = await place.openRaw()
  const tally = new Tally()
  await warmUp(async () => checkLogs(engine, await runAll(engine, runs, steps), steps))
  await raw.write(1_000)
  for (let round = 0; round < rounds; round++) {
    const bytes = await place.diskBytes()
    const rawMs = await timeOf(() => raw.write(1_000))
    let ids: readonly string[] = []
    const { ms, cpuMs } = await costOf(async () => {
      ids = await runAll(engine, runs, steps)
    })
    await checkLogs(engine, ids, steps)
    tally.add({
      stepsPerSecond: ((runs * steps) / ms) * 1_000,
      rawPerSecond: 1e6 / rawMs,
      ratio: (runs * steps * rawMs) / ms / 1_000,
      cpuUsPerStep: (cpuMs / runs / steps) * 1_000,
      diskBytesPerStep: ((await place.diskBytes()) - bytes) / (runs * steps),
    })
  }
  await raw.close()
  await engine.stop()
  return tally.figures
}

/** W3: one run that begins 500 steps at once. */
export async function runFan({ address, rounds, size: steps = 500 }: Job): Promise<Figures> {
  const engine = await startEngine(openPlace(address))
  const tally = new Tally()
  const once = async (): Promise<Cost> => {
    let id = ''
    const cost = await costOf(async () => {
      const run = await engine.run(fan, steps)
      check('the sum of all steps', await run.result(), sumOf(steps))
      id = run.id
    })
    await checkSteps(engine, id, steps)
    return cost
  }
  await warmUp(once)
  for (let round = 0; round < rounds; round++) {
    const { ms, cpuMs } = await once()
    tally.add({ totalMs: ms, cpuUsPerStep: (cpuMs / steps) * 1_000 })
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
