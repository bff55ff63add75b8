import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle, temporaryFolder } from '../bundle.ts'
import { type Acknowledged, acknowledgeNothing, type Findings } from './check.ts'
import type { Place, Rows } from './place.ts'
import type { KillMoment } from './sabotage.ts'
import { WorkerProcess } from './worker-process.ts'

/** One run, and how it is judged. */
export interface KilledRun {
  /** Starts the run from outside, and resolves once it has ended as it should. */
  drive(location: string, acknowledged: Acknowledged): Promise<void>
  check(rows: Rows, ledger: string, acknowledged: Acknowledged): Findings
}

interface Kills {
  readonly makePlace: () => Promise<Place>
  readonly run: KilledRun
  readonly when: KillMoment
  /** 3 leaves out two of three writes. Default: 1. */
  readonly step?: number
}

export interface Killed {
  /** The number of workers that were killed. */
  readonly killed: number
  readonly problems: readonly string[]
}

/**
 * Repeats a run once for every write of a worker: the worker kills itself around that write, and a second one finishes what is
 * left.
 */
export async function killAtWrites({ makePlace, run, when, step = 1 }: Kills): Promise<Killed> {
  const program = await bundle(new URL('../../programs/kill-worker.ts', import.meta.url).pathname)
  const problems: string[] = []
  try {
    for (let n = 1, killed = 0; ; n += step, killed++) {
      const found = await runKilledAt(program, await makePlace(), run, { n, when })
      problems.push(...found.problems.map((problem) => `killed ${when} write ${n}: ${problem}`))
      if (!found.wasKilled) return { killed, problems }
    }
  } finally {
    await rm(join(program, '..'), { recursive: true })
  }
}

async function runKilledAt(
  program: string,
  place: Place,
  run: KilledRun,
  { n, when }: { readonly n: number; readonly when: KillMoment },
): Promise<{ readonly wasKilled: boolean; readonly problems: readonly string[] }> {
  const folder = await temporaryFolder()
  const ledger = join(folder, 'ledger.ndjson')
  const args = [place.location, ledger, '1s']
  const first = new WorkerProcess(program, args, { KILL_AT: `${n}:${when}` })
  const acknowledged = acknowledgeNothing()
  const ended = run.drive(place.location, acknowledged)
  await Promise.race([first.ended(), ended])
  const wasKilled = !first.isRunning
  await first.kill()
  const second = new WorkerProcess(program, args)
  await ended
  await second.kill()
  const { problems } = run.check(await place.readRows(), ledger, acknowledged)
  await rm(folder, { recursive: true })
  await place.remove()
  return { wasKilled, problems }
}
