import type { Engine } from '@pawl/core'
import { type Line, startActor } from '../actor.ts'
import { check } from '../base/check.ts'
import { cpuMsSoFar, nowMs, sleep, until } from '../base/clock.ts'
import { residentMb } from '../base/memory.ts'
import { openPlace } from '../places/open-place.ts'
import type { Address } from '../places/place.ts'
import { waiting } from '../procedures.ts'
import { type Figures, type Job, roundsOf, startEngine, Tally } from './workload.ts'

const atOnce = 1_000

/** A store with 100,000 waiting runs; a new process starts an engine on it and wakes one of them. */
export async function startAmongMany(job: Job, line: Line): Promise<Figures> {
  const { address, size: runs = 100_000 } = job
  await startActor('fill', { address, rounds: 1, size: runs } satisfies Job).result()
  const bytes = await openPlace(address).diskBytes()
  const tally = new Tally()
  tally.add({ diskBytesPerRun: bytes / runs })
  for await (const round of roundsOf(job, line)) {
    const started = await startActor('start among many', { address, round }).result()
    tally.add(started as { readonly [figure: string]: number })
  }
  return tally.figures
}

/** Fills a place with waiting runs, and counts them. */
export async function fill({ address, size: runs = 0 }: Job): Promise<void> {
  const engine = await startEngine(openPlace(address))
  for (let from = 0; from < runs; from += atOnce)
    await Promise.all(
      Array.from({ length: atOnce }, (_, i) => engine.run(waiting, undefined, { id: `waiting:${from + i}` })),
    )
  await untilNoneRuns(engine)
  check('runs that wait', await countWaiting(engine), runs)
  await engine.stop()
}

async function countWaiting(engine: Engine): Promise<number> {
  let [count, cursor] = [0, undefined as string | undefined]
  do {
    const page = await engine.list({ status: 'waiting', limit: 500, cursor })
    count += page.items.length
    cursor = page.cursor
  } while (cursor !== undefined)
  return count
}

export function untilNoneRuns(engine: Engine): Promise<void> {
  return until(
    'all runs wait',
    async () => (await engine.list({ status: 'running', limit: 1 })).items.length === 0,
  )
}

interface Start {
  readonly address: Address
  readonly round: number
}

export async function startOne(
  { address, round }: Start,
  _line: Line,
): Promise<{ readonly [figure: string]: number }> {
  const before = residentMb()
  const from = nowMs()
  const engine = await startEngine(openPlace(address))
  const [ready, cpuMs] = [nowMs(), cpuMsSoFar()]
  const run = engine.get(waiting, `waiting:${round * 101}`)
  await run.signal('go', round)
  check('result', await run.result(), round)
  const done = nowMs()
  // What it would take up by itself, it has begun to by now.
  await sleep(2_000)
  const resident = residentMb()
  await engine.stop()
  return {
    readyMs: ready - from,
    cpuMs,
    wakeMs: done - ready,
    residentMb: resident,
    addedMb: resident - before,
  }
}
