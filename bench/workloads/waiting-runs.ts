import { check } from '../base/check.ts'
import { cpuMsSoFar, sleep } from '../base/clock.ts'
import { residentMb } from '../base/memory.ts'
import { openPlace } from '../places/open-place.ts'
import { waiting } from '../procedures.ts'
import { untilNoneRuns } from './start-up.ts'
import { type Figures, type Job, startEngine, Tally } from './workload.ts'

/** W7: resident memory added by 1,000 waiting runs. Every round is a process of its own. */
export async function rememberWaiting({ address, size: runs = 1_000 }: Job): Promise<Figures> {
  const engine = await startEngine(openPlace(address))
  const first = await engine.run(waiting)
  // As with the peers; the thread that watches has come up by then.
  await sleep(200)
  await first.signal('go', 0)
  await first.result()
  const before = residentMb()
  const cpuBefore = cpuMsSoFar()
  const all = await Promise.all(Array.from({ length: runs }, () => engine.run(waiting)))
  await untilNoneRuns(engine)
  const cpuMs = cpuMsSoFar() - cpuBefore
  const added = residentMb() - before
  await Promise.all(all.map((run, i) => run.signal('go', i)))
  for (const [i, run] of all.entries()) check('result', await run.result(), i)
  await engine.stop()
  const tally = new Tally()
  tally.add({ addedMb: added, cpuUsPerRun: (cpuMs / runs) * 1_000 })
  return tally.figures
}
