import { createClient } from '@pawl/core'
import { type Line, startActor } from '../actor.ts'
import { check } from '../base/check.ts'
import { timeOf } from '../base/clock.ts'
import { openPlace } from '../places/open-place.ts'
import type { Address } from '../places/place.ts'
import { sequence, sumOf } from '../procedures.ts'
import { checkSteps } from './recorded.ts'
import { type Figures, type Job, roundsOf, startEngine, Tally } from './workload.ts'

/** A client that executes nothing starts 400 runs of 10 steps; so many workers, each a process, share them. */
export async function shareWork(job: Job, line: Line): Promise<Figures> {
  const { address, size: workers = 1 } = job
  const [runs, steps] = [400, 10]
  const fleet = Array.from({ length: workers }, () => startActor('worker', address))
  for (const worker of fleet) await worker.hear()
  const client = createClient({ store: openPlace(address).store() })
  const tally = new Tally()
  const once = async (): Promise<number> => {
    let ids: readonly string[] = []
    const ms = await timeOf(async () => {
      const started = await Promise.all(Array.from({ length: runs }, () => client.run(sequence, steps)))
      const results = await Promise.all(started.map((run) => run.result()))
      for (const result of results) check('the sum of all steps', result, sumOf(steps))
      ids = started.map(({ id }) => id)
    })
    for (const id of ids) await checkSteps(client, id, steps)
    return ms
  }
  await once()
  for await (const _ of roundsOf(job, line)) {
    const ms = await once()
    tally.add({ stepsPerSecond: ((runs * steps) / ms) * 1_000, totalMs: ms })
  }
  await client.stop()
  for (const worker of fleet) worker.tell('stop')
  for (const worker of fleet) await worker.result()
  return tally.figures
}

export async function work(address: Address, line: Line): Promise<void> {
  const engine = await startEngine(openPlace(address))
  line.tell('ready')
  await line.hear()
  await engine.stop()
}
