import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { StorePort } from '../ports/store/store.ts'
import { claimCancelled } from './cancelled-runs.ts'
import type { Claims } from './claims.ts'
import type { Lease } from './lease.ts'
import type { LoadedRuns } from './loaded-runs.ts'
import type { RetentionChore } from './retention.ts'
import type { RunReports } from './run-reports.ts'
import type { Slots } from './slots.ts'
import { Starvation } from './starvation.ts'
import type { StuckRuns } from './stuck-runs.ts'
import type { ThrottledLog } from './throttled-log.ts'
import { reportUnclaimable } from './unclaimable-runs.ts'

/** Poll interval for due runs, and for mail of owned runs, in case hints are lost. */
const pollMs = 1_000
/** The store counts as recovered once no call has failed for this long. */
const wellMs = 5_000
/** Delay of the first check for runs that no engine can execute: engines that start together see each other. */
const unclaimableAfterMs = 5_000
const unclaimableEveryMs = 60_000
/** Interval between parts of the runs in which the expired ones are looked for. */
const retentionEveryMs = 60_000
const feedEveryMs = 60 * 60_000

/** Periodic work of a worker, beside its runs. */
export interface Chore {
  readonly name: string
  /** From the end of one execution to the next. */
  readonly everyMs: number
  /** From the start of the worker to the first execution. Default: `everyMs`. */
  readonly firstMs?: number
  /** Also runs at each hint of the store. */
  readonly onHint?: true
  run(): Promise<void> | void
}

/** Runs each chore on its own timer. An error does not end a chore. */
export class Chores {
  readonly #clock: Clock
  readonly #chores: readonly Chore[]
  readonly #onError: (error: unknown, chore: Chore) => void
  readonly #callOffs = new Map<Chore, () => void>()
  #isStopped = false

  constructor(clock: Clock, chores: readonly Chore[], onError: (error: unknown, chore: Chore) => void) {
    this.#clock = clock
    this.#chores = chores
    this.#onError = onError
  }

  /** Starts the timers. Does nothing after `stop`. */
  start(): void {
    for (const chore of this.#chores) this.#schedule(chore, chore.firstMs ?? chore.everyMs)
  }

  /** Runs the chores that need not wait for their timers, which are unchanged. Called when the store has changed. */
  onHint(): void {
    for (const chore of this.#chores) if (chore.onHint === true) void this.#run(chore)
  }

  /** Starts no further chore, even after one in progress. */
  stop(): void {
    this.#isStopped = true
    for (const callOff of this.#callOffs.values()) callOff()
  }

  #schedule(chore: Chore, afterMs: number): void {
    if (this.#isStopped) return
    const run = (): void => void this.#run(chore).then(() => this.#schedule(chore, chore.everyMs))
    this.#callOffs.set(chore, this.#clock.after(afterMs, run, true))
  }

  async #run(chore: Chore): Promise<void> {
    try {
      await chore.run()
    } catch (error) {
      this.#onError(error, chore)
    }
  }
}

/** The parts of a worker that its chores use. */
export interface ChoreParts {
  readonly store: Pick<StorePort, 'workers' | 'claims'>
  readonly clock: Clock
  readonly logger: Logger
  readonly leaseMs: number
  readonly lease: Pick<Lease, 'renew' | 'register' | 'worker'>
  readonly claims: Pick<Claims, 'claim' | 'claimant'>
  readonly runs: Pick<LoadedRuns, 'adopt' | 'readMailCounters' | 'dropOwned'>
  readonly slots: Pick<Slots, 'look' | 'releases' | 'queued' | 'taken'>
  readonly stuckRuns: Pick<StuckRuns, 'retry'>
  readonly reports: Pick<RunReports, 'flush'>
  readonly complaints: Pick<ThrottledLog, 'settle'>
  readonly retention: Pick<RetentionChore, 'run' | 'trimFeed'>
}

/** Lists the chores of a worker. */
export function listChores(parts: ChoreParts): readonly Chore[] {
  const { store, clock, logger, leaseMs, claims, slots, stuckRuns, reports } = parts
  const starvation = new Starvation(slots, clock, logger)
  const claimIfAny = async (freed: Promise<number>): Promise<void> => {
    if ((await freed) > 0) await claims.claim()
  }
  return [
    { name: 'lease', everyMs: leaseMs / 5, run: () => renewLease(parts) },
    { name: 'sweep', everyMs: leaseMs / 5, run: () => claimIfAny(store.workers.sweep()) },
    { name: 'starvation', everyMs: pollMs, run: () => starvation.look() },
    { name: 'reports', everyMs: pollMs, run: () => reports.flush() },
    { name: 'poll', everyMs: pollMs, onHint: true, run: () => poll(parts) },
    {
      name: 'stuck runs',
      everyMs: pollMs,
      onHint: true,
      run: () => claimIfAny(stuckRuns.retry(claims.claimant)),
    },
    {
      name: 'unclaimable runs',
      everyMs: unclaimableEveryMs,
      firstMs: unclaimableAfterMs,
      run: () => endUnclaimable(parts),
    },
    { name: 'retention', everyMs: retentionEveryMs, run: () => parts.retention.run() },
    { name: 'feed', everyMs: feedEveryMs, run: () => parts.retention.trimFeed() },
  ]
}

/** Handles runs that no live engine can execute. Cancelled ones are ended here, without their code. */
async function endUnclaimable({ store, logger, lease, runs }: ChoreParts): Promise<void> {
  const abilities = await reportUnclaimable(store, logger)
  if (abilities === null) return
  const { worker } = lease
  for (const claimed of await claimCancelled(store, abilities, worker)) runs.adopt(claimed, null, worker)
}

/** Renews the lease. A worker that was declared dead owns nothing: it drops everything and registers again. */
async function renewLease({ lease, runs, slots, logger }: ChoreParts): Promise<void> {
  if (!(await lease.renew())) {
    logger.warn('Lease expired: other workers take over the runs of this worker, which registers again')
    runs.dropOwned()
    await lease.register()
  }
  slots.look()
}

async function poll({ claims, runs, complaints }: ChoreParts): Promise<void> {
  await claims.claim()
  await runs.readMailCounters()
  complaints.settle(wellMs)
}
