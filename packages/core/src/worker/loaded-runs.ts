import type { AskSpec } from '../authoring/operations.ts'
import type { LogEvent } from '../events/event.ts'
import type { Claimed } from '../ports/store/claims.ts'
import type { MailStore, Message } from '../ports/store/mail.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { WorkerKey } from '../ports/store/workers.ts'
import type { Claims } from './claims.ts'
import type { Committer } from './committer.ts'
import { ContinuationCache } from './continuation-cache.ts'
import type { Lease } from './lease.ts'
import { OutputCache } from './output-cache.ts'
import { OwnedRuns } from './owned-runs.ts'
import { Run, type RunCallbacks } from './run/run.ts'
import type { WorkerServices } from './services.ts'

export interface LoadedRunsOptions {
  readonly services: Omit<WorkerServices, 'worker'> & {
    readonly store: { readonly mail: Pick<MailStore, 'counters'> }
  }
  readonly lease: Pick<Lease, 'worker'>
  readonly committer: Pick<Committer, 'add' | 'remove'>
  readonly claims: Pick<Claims, 'onAdopted' | 'onProgress' | 'onReleased' | 'onAllReleased'>
  readonly keep: { readonly runs: number; readonly bytes: number }
  readonly handsOver: () => boolean
}

/** The runs in a worker's memory: owned runs, and continuations of parked runs. */
export class LoadedRuns {
  readonly #options: LoadedRunsOptions
  readonly #owned = new OwnedRuns()
  readonly #kept: ContinuationCache
  readonly #outputs = new OutputCache()
  /** Runs that were deleted before their end was noted here. */
  readonly #removed = new Set<RunKey>()
  readonly #callbacks: RunCallbacks

  constructor(options: LoadedRunsOptions) {
    this.#options = options
    this.#kept = new ContinuationCache(options.keep)
    this.#callbacks = this.#createCallbacks()
  }

  /** The number of runs the worker owns. */
  get owned(): number {
    return this.#owned.size
  }

  /** Whether only time or a message would change any of them. */
  get isAtRest(): boolean {
    for (const run of this.#owned) if (!run.isAtRest) return false
    return true
  }

  /** Whether any of them has something to write. */
  get owes(): boolean {
    for (const run of this.#owned) if (run.owes) return true
    return false
  }

  /** Whether the worker owns the run. */
  has(key: RunKey): boolean {
    return this.#owned.find(key) !== undefined
  }

  hasId(id: string): boolean {
    return this.#owned.hasId(id)
  }

  /** Returns the output of a run that has just completed here. */
  outputOf(id: string): { readonly output: Uint8Array | null } | undefined {
    return this.#outputs.find(id)
  }

  /** Forgets the output of a run that was started again. */
  forgetOutput(id: string): void {
    this.#outputs.forget(id)
  }

  /** Forgets the output of a run that was deleted, also if this worker has yet to hear that the run has ended. */
  onRemoved(key: RunKey): void {
    this.#outputs.forgetRun(key)
    if (this.has(key)) this.#removed.add(key)
  }

  checkOf(key: RunKey, position: number): AskSpec['check'] {
    return (this.#owned.find(key) ?? this.#kept.find(key))?.checkOf(position)
  }

  /** Executes a run that was created already claimed by `worker`. */
  begin(claimed: Claimed, started: LogEvent, worker: WorkerKey): void {
    if (this.#isOwn(worker)) this.#add(claimed).begin([started])
  }

  /** Executes a run claimed by `worker`: on its kept continuation if there is one, otherwise by a replay. */
  adopt(claimed: Claimed, message: Message | null, worker: WorkerKey): void {
    if (!this.#isOwn(worker)) return
    // Claimed again before the worker heard that it was parked: the old continuation no longer owns it.
    this.#owned.find(claimed.run)?.drop()
    this.#options.claims.onAdopted(claimed)
    const kept = this.#kept.take(claimed.run)
    if (kept?.continues(claimed)) {
      this.#owned.add(kept)
      return kept.wake(claimed, message)
    }
    kept?.drop()
    this.#add(claimed).load(message)
  }

  /** Whether a key is that of this worker. If its lease expired during the call, it has another key, and does not own the run. */
  #isOwn(worker: WorkerKey): boolean {
    return worker === this.#options.lease.worker
  }

  #add(claimed: Claimed): Run {
    this.#outputs.forget(claimed.id)
    const run = new Run(this.#callbacks, claimed)
    this.#owned.add(run)
    return run
  }

  deliver(key: RunKey, message: Message): void {
    this.#owned.find(key)?.onMessage(message)
  }

  /** Asks the store for new messages to the owned runs, in case hints were lost. */
  async readMailCounters(): Promise<void> {
    if (this.#owned.size === 0) return
    const { services, lease } = this.#options
    for (const { run, mail } of await services.store.mail.counters(lease.worker))
      this.#owned.find(run)?.onMail(mail)
  }

  /** Asks each run whether it has anything to write. */
  offerAll(): void {
    for (const run of this.#owned) this.#options.committer.add(run)
  }

  /** Drops the owned runs without writing anything. Called when the worker owns nothing any more. */
  dropOwned(): void {
    const runs = [...this.#owned]
    this.#owned.clear()
    this.#options.claims.onAllReleased()
    for (const run of runs) {
      run.drop()
      this.#options.committer.remove(run)
    }
  }

  /** Drops the continuations of parked runs. */
  dropKept(): void {
    this.#kept.clear()
  }

  #createCallbacks(): RunCallbacks {
    const { services, lease, committer, claims, handsOver } = this.#options
    return {
      ...services,
      get worker() {
        return lease.worker
      },
      get handsOver() {
        return handsOver()
      },
      onReady: (run) => committer.add(run),
      onProgress: (run) => claims.onProgress(run.key),
      onParked: (run, wakeAt) => {
        this.#owned.remove(run)
        this.#kept.add(run)
        claims.onReleased(run.key, wakeAt)
      },
      onCompleted: (run, output) => {
        if (!this.#removed.has(run.key)) this.#outputs.add(run.id, run.key, output)
      },
      onContinued: (run, { claimed, events, messages }) => {
        run.drop()
        committer.remove(run)
        this.#add(claimed).begin(events, messages)
      },
      onGone: (run, dueAt) => {
        run.drop()
        committer.remove(run)
        this.#owned.remove(run)
        this.#removed.delete(run.key)
        this.#kept.forget(run)
        claims.onReleased(run.key, dueAt ?? null)
      },
    }
  }
}
