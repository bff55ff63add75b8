import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createClient } from '@pawl/core'
import { bundle, temporaryFolder } from '../bundle.ts'
import { type Acknowledged, acknowledgeNothing, check, type Findings } from './check.ts'
import { type Driving, driveRuns } from './drive.ts'
import { openStore } from './open-store.ts'
import { makeOrder } from './order.ts'
import type { Place, Rows } from './place.ts'
import { seeded } from './seeded.ts'
import { makeSqlitePlace } from './sqlite-place.ts'
import { WorkerProcess } from './worker-process.ts'

/** The runs of a siege, and how they are judged. */
export interface Story {
  drive(driving: Driving, ledger: string): Promise<void>
  check(rows: Rows, ledger: string, acknowledged: Acknowledged): Findings
}

const orders: Story = {
  drive: (driving, ledger) => driveRuns({ ...driving, order: makeOrder(ledger) }),
  check,
}

export interface SiegeOptions {
  readonly seed: number
  /** Default: orders. */
  readonly story?: Story
  /** How many workers are at it at once. */
  readonly workers: number
  readonly kills?: number
  /**
   * How long a worker may live, at most, in ms; default 400. A run that a worker is killed over seven times in a
   * row, before it could write anything, is taken for the killer.
   */
  readonly mercyMs?: number
  /** Stop workers past their lease and let them go on, instead of killing some. */
  readonly pauses?: number
  /** What else befalls everybody, so many times, one after the other. */
  readonly disasters?: { readonly count: number; strike(random: () => number): Promise<void> }
  /** Runs to start, at least. Others follow until everything has befallen. Default 5. */
  readonly runs?: number
  /** Default 10. */
  readonly atOnce?: number
  readonly env?: Readonly<Record<string, string>>
  /** Where it happens. Default: a new file. */
  readonly place?: Place
  /** Where workers and clients find it, if that is not where it is: behind a proxy. */
  readonly location?: string
}

export interface SiegeReport extends Findings {
  readonly kills: number
  readonly pauses: number
  readonly disasters: number
  readonly runs: number
}

/**
 * Workers on one store are killed at random moments and started again, while a client starts runs, answers
 * their questions and sends them signals, and remembers what was acknowledged. Ends when all runs are through.
 */
export async function besiege(options: SiegeOptions): Promise<SiegeReport> {
  const place = options.place ?? (await makeSqlitePlace())
  const {
    seed,
    story = orders,
    workers,
    kills = 0,
    pauses = 0,
    mercyMs = 400,
    disasters,
    env = {},
    location = place.location,
  } = options
  const folder = await temporaryFolder()
  const ledger = join(folder, 'ledger.ndjson')
  const program = await bundle(new URL('../../programs/kill-worker.ts', import.meta.url).pathname)
  const client = createClient({ store: openStore(location) })
  const random = seeded(seed)
  const acknowledged = acknowledgeNothing()
  const count = { kills: 0, pauses: 0, disasters: 0 }
  let isOver = false
  // One at a time: somebody has to be there to take over.
  let isPausing = false
  const isDone = (): boolean => count.kills >= kills && count.pauses >= pauses

  const start = (): WorkerProcess => new WorkerProcess(program, [location, ledger, '1s'], env)
  const first = Array.from({ length: workers }, start)
  const attack = async (begun: WorkerProcess): Promise<void> => {
    let worker = begun
    await worker.ready()
    while (!isDone()) {
      await wait(random() * mercyMs)
      if (!isPausing && count.pauses < pauses && random() < pauses / (pauses + kills)) {
        count.pauses++
        isPausing = true
        worker.pause()
        await wait(1_100 + random() * 600)
        worker.goOn()
        isPausing = false
      } else if (count.kills < kills) {
        count.kills++
        await worker.kill()
        worker = start()
        if (random() < 0.8) await worker.ready()
      }
    }
    while (!isOver) await wait(10)
    await worker.kill()
  }
  const afflict = async (): Promise<void> => {
    await Promise.all(first.map((worker) => worker.ready()))
    while (disasters !== undefined && count.disasters < disasters.count) {
      count.disasters++
      await disasters.strike(random)
    }
  }
  const attacks = [...first.map(attack), afflict()]
  await story.drive(
    {
      ...{ client, random, acknowledged, atOnce: options.atOnce ?? 10 },
      goesOn: (n) => n < (options.runs ?? 5) || !isDone() || count.disasters < (disasters?.count ?? 0),
    },
    ledger,
  )
  isOver = true
  await Promise.all(attacks)
  await client.stop()
  const findings = story.check(await place.readRows(), ledger, acknowledged)
  if (findings.problems.length === 0) {
    await rm(folder, { recursive: true })
    await place.remove()
  }
  await rm(join(program, '..'), { recursive: true })
  return { ...findings, ...count, runs: acknowledged.runs.size }
}
