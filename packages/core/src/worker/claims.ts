import { nextRound } from '../host/rounds.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Claimant, Claimed } from '../ports/store/claims.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { ProcedureVersions, WorkerKey } from '../ports/store/workers.ts'
import { CrashLoopTests } from './crash-loops/crash-loop-tests.ts'
import type { StoreTime } from './store-time.ts'

/** Maximum number of runs that a worker owns. Further due runs wait for the next claim, here or elsewhere. */
export const maxOwned = 1_000
/** Maximum number of runs in one claim. */
const claimAtOnce = 100

export interface ClaimsOptions {
  readonly store: Pick<StorePort, 'claims' | 'suspects'>
  readonly clock: Clock
  readonly time: StoreTime
  readonly logger: Logger
  readonly procedures: readonly ProcedureVersions[]
  readonly worker: () => WorkerKey
  /** False before the worker has started, and once it stops. */
  readonly isWorking: () => boolean
  /** Returns how many runs the worker owns. */
  readonly owned: () => number
  /** Called with each claimed run, and the key under which the worker claimed it. */
  readonly adopt: (claimed: Claimed, worker: WorkerKey) => void
  readonly onError: (error: unknown) => void
}

/** Claims due runs, runs that become due, and suspects. */
export class Claims {
  readonly #options: ClaimsOptions
  readonly #suspects: CrashLoopTests
  #isClaiming = false
  #claimAgain = false
  /** When the next unowned run is due, as far as is known. */
  #dueAt = Number.POSITIVE_INFINITY
  #callOff: () => void = () => {}

  constructor(options: ClaimsOptions) {
    this.#options = options
    this.#suspects = new CrashLoopTests(options, () => this.claimSoon())
  }

  /** The identity under which this worker claims. */
  get claimant(): Claimant {
    const { worker, procedures } = this.#options
    return { worker: worker(), procedures, suspects: this.#suspects.claims }
  }

  /** Whether this worker has room for another run. */
  get takesWork(): boolean {
    return this.#options.isWorking() && this.#room > 0
  }

  /** Whether a claim is in progress. */
  get isClaiming(): boolean {
    return this.#isClaiming
  }

  get #room(): number {
    return maxOwned - this.#options.owned()
  }

  /** Claims due runs. Claims run one at a time; runs that become due meanwhile are claimed right afterwards. */
  async claim(): Promise<void> {
    this.#claimAgain = true
    if (this.#isClaiming) return
    this.#isClaiming = true
    try {
      while (this.#claimAgain && this.takesWork) {
        this.#claimAgain = false
        await this.#claimOnce(Math.min(claimAtOnce, this.#room))
      }
    } finally {
      this.#isClaiming = false
    }
  }

  async #claimOnce(limit: number): Promise<void> {
    const { store, time, adopt, isWorking } = this.#options
    const { claimant } = this
    const claims = await store.claims.claim(claimant, limit)
    const { runs, at, nextDueAt } = claims
    time.learn(at)
    for (const claimed of runs) adopt(claimed, claimant.worker)
    // Stopped meanwhile. A lack of room is no reason to return: the rest has to be claimed later.
    if (!isWorking()) return
    const tester = this.claimant
    for (const claimed of await this.#suspects.takeNext(tester, claims, this.#room))
      adopt(claimed, tester.worker)
    if (runs.length === limit) {
      this.#claimAgain = true
      // Each of them reads its log now.
      await nextRound()
    }
    // A due run that could not be claimed is left to other workers, or to the next poll.
    if (nextDueAt !== null && nextDueAt > at) this.#claimAt(nextDueAt)
  }

  /** Claims without waiting for the outcome. */
  claimSoon(): void {
    this.claim().catch(this.#options.onError)
  }

  /** Called when the worker owns a run. */
  onAdopted(claimed: Claimed): void {
    this.#suspects.add(claimed)
  }

  /** Called when an owned run has written an event. */
  onProgress(run: RunKey): void {
    this.#suspects.remove(run)
  }

  /** Called when the worker no longer owns a run. `dueAt`: when to claim it again; null: not at a fixed time. */
  onReleased(run: RunKey, dueAt: number | null): void {
    if (dueAt !== null) this.#claimAt(dueAt)
    this.#suspects.remove(run)
    // Runs left unclaimed for lack of room are claimed when there is plenty of it again.
    if (this.#claimAgain && !this.#isClaiming && this.#options.owned() <= maxOwned / 2) this.claimSoon()
  }

  /** Called when the worker owns nothing any more. */
  onAllReleased(): void {
    this.#suspects.clear()
  }

  /** Claims no further runs by time. */
  stop(): void {
    this.#callOff()
  }

  /** Schedules a claim for when the next run is due; the poll would be up to a second late. */
  #claimAt(dueAt: number): void {
    const { clock, time, isWorking } = this.#options
    if (!isWorking() || dueAt >= this.#dueAt) return
    this.#callOff()
    this.#dueAt = dueAt
    this.#callOff = clock.after(Math.max(0, dueAt - time.now()), () => {
      this.#dueAt = Number.POSITIVE_INFINITY
      this.claimSoon()
    })
  }
}
