import { AskIds } from '../asks/ask-id.ts'
import type { AgentDefinition } from '../authoring/agent/agent.ts'
import type { Policy } from '../authoring/policy/policy.ts'
import type { Bugs, ProcedureDefinition } from '../authoring/procedure.ts'
import type { Sha256 } from '../base/hash.ts'
import type { Notifier } from '../base/notifier.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { allowGrace } from '../host/drain.ts'
import { outsideTurn } from '../host/outside-turn.ts'
import type { TurnOwner } from '../kernel/turns.ts'
import type { Clock } from '../ports/clock.ts'
import type { Effects } from '../ports/effects.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { LocalWorker } from '../ports/local-worker.ts'
import { defaultLogLimits, type LogLimits } from '../ports/log-limits.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { RetentionRules } from '../ports/retention.ts'
import type { Claimed } from '../ports/store/claims.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { WorkerKey } from '../ports/store/workers.ts'
import { Chores, listChores } from './chores.ts'
import { Claims } from './claims.ts'
import { Committer } from './committer.ts'
import { Families } from './families.ts'
import { Lease } from './lease.ts'
import { LoadedRuns } from './loaded-runs.ts'
import { createLocalWorker } from './local-worker.ts'
import { Procedures } from './procedures.ts'
import { Remarks } from './remarks.ts'
import { RetentionChore } from './retention.ts'
import { retrying } from './retrying.ts'
import { RunReports } from './run-reports.ts'
import type { Slices, WorkerServices } from './services.ts'
import { Slots } from './slots.ts'
import { StoreTime } from './store-time.ts'
import { StuckRuns } from './stuck-runs.ts'
import { ThrottledLog } from './throttled-log.ts'

const slicesByDefault: Slices = { begun: 250, drafts: 500 }
/** Maximum wait for the store when a stopping worker hands back its runs. */
const handBackMs = 1_000
/** Maximum time of failed calls, after the store was opened, before a starting worker gives up. */
const startWithinMs = 3_000
const startAgainMs = 200

export interface WorkerOptions {
  readonly store: StorePort
  readonly clock: Clock
  readonly entropy: Entropy
  readonly effects: Effects
  readonly sha256: Sha256
  readonly notifier: Notifier
  readonly logger: Logger
  /** Default: none. */
  readonly observer?: Observer | undefined
  readonly procedures: readonly ProcedureDefinition[]
  readonly decider: AgentDefinition | undefined
  readonly escalateTo: string | undefined
  readonly policy: Policy | undefined
  readonly determinism: TurnOwner['determinism']
  /** What a programming error does to its run, unless the procedure sets it. */
  readonly bugs: Bugs
  /** Number of positive tests of a run alone after which it is quarantined. */
  readonly maxCrashes: number
  /** Number of descendants of a run above which no descendant may create another run. */
  readonly maxDescendants: number
  /** Maximum number of concurrent step bodies. */
  readonly concurrency: number
  readonly retention: RetentionRules
  readonly leaseMs: number
  /** Default: a warning at 10,000 events, and full at 1,000,000. */
  readonly logLimits?: LogLimits
  /** For people: host and process. */
  readonly name: string
  /** Limits of the continuations of parked runs kept in memory: their number, and the bytes delivered to them. */
  readonly keep: { readonly runs: number; readonly bytes: number }
  readonly replay: WorkerServices['replay']
  /** Default: a span of real time, also where `clock` is simulated, since foreign work takes real time. */
  readonly allowGrace?: WorkerServices['allowGrace']
  /** Default: 250 operations start at once, and a unit has 500 drafts. */
  readonly slices?: Slices
}

/**
 * Executes runs: registers, claims due runs, renews its lease, sweeps dead workers, and hands back its runs when it stops.
 */
export class Worker {
  /** The view of the worker for a client in the same process. */
  readonly local: LocalWorker
  readonly #options: WorkerOptions
  readonly #time: StoreTime
  readonly #askIds: AskIds
  readonly #slots: Slots
  readonly #lease: Lease
  readonly #claims: Claims
  readonly #runs: LoadedRuns
  readonly #chores: Chores
  readonly #stuckRuns: StuckRuns
  readonly #retention: RetentionChore
  readonly #committer: Committer
  readonly #throttledLog: ThrottledLog
  readonly #reports: RunReports
  #state: 'new' | 'working' | 'stopping' | 'stopped' = 'new'
  #unwatch: () => void = () => {}
  #isLooking = false
  #looksAgain = false

  constructor(options: WorkerOptions) {
    const logger = outsideTurn(options.logger)
    this.#options = { ...options, logger }
    const { store, clock, name, leaseMs, keep } = options
    const procedures = new Procedures(options.procedures)
    const versions = procedures.versions
    const isWorking = (): boolean => this.#state === 'working'
    const onError = this.#report
    this.#throttledLog = new ThrottledLog(logger, clock, 'Store answers again')
    this.#reports = new RunReports(logger, clock)
    const time = new StoreTime(clock)
    const lease = new Lease({
      ...{ store, clock, name, leaseMs, procedures: versions },
      describeInputs: () => procedures.describeInputs(),
    })
    const worker = (): number => lease.worker
    this.#slots = new Slots(options.concurrency, () => lease.isProven)
    this.#committer = new Committer({ store, clock, logger, worker, observer: options.observer })
    const claims = new Claims({
      ...{ store, clock, time, logger, procedures: versions, worker, isWorking, onError },
      owned: () => this.#runs.owned,
      adopt: (claimed, worker) => this.#adopt(claimed, worker),
    })
    this.#time = time
    this.#askIds = new AskIds(options.sha256)
    this.#lease = lease
    this.#claims = claims
    const services = this.#createServices(procedures)
    const handsOver = (): boolean => this.#state === 'stopping' && !this.#committer.isFailing
    const runs = new LoadedRuns({ services, lease, committer: this.#committer, claims, keep, handsOver })
    this.#runs = runs
    const stuckRuns = new StuckRuns(store, clock)
    this.#stuckRuns = stuckRuns
    const onRemoved = (run: RunKey): void => runs.onRemoved(run)
    const { retention, sha256 } = options
    this.#retention = new RetentionChore(store, retention, logger, isWorking, onRemoved, sha256)
    const chores = listChores({
      ...{ store, clock, logger, leaseMs, lease, claims, runs, stuckRuns },
      ...{ slots: this.#slots, reports: this.#reports, complaints: this.#throttledLog },
      retention: this.#retention,
    })
    this.#chores = new Chores(clock, chores, onError)
    this.local = createLocalWorker({ procedures, lease, claims, runs, time, isWorking, onError })
  }

  /** Takes over the runs of dead workers, and executes runs until it is stopped. */
  async start(): Promise<void> {
    const { store } = this.#options
    this.#time.learn(await this.#insist(() => store.now()))
    this.#askIds.learn(await this.#insist(() => store.askIdKey()))
    await this.#insist(() => this.#lease.register())
    this.#state = 'working'
    this.#unwatch = store.watch(() => this.#onHint())
    await Promise.all([
      this.#attempt(() => store.workers.sweep()),
      // Here too: many a worker lives shorter than the interval of its chore.
      this.#attempt(() => this.#retention.trimFeed()),
      this.#attempt(() => this.#stuckRuns.retry(this.#claims.claimant)),
    ])
    this.#chores.start()
    await this.#attempt(() => this.#claims.claim())
  }

  /** Retries for a while a call that a worker cannot start without. An error 'store-unusable' is final. */
  #insist<T>(call: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options
    const startedAt = clock.elapsed()
    const isRetried = (error: unknown): boolean => {
      const isOver = clock.elapsed() - startedAt > startWithinMs || this.#isStopped
      if (isOver || PawlError.is(error)) return false
      logger.error('Store did not answer; retrying', { error })
      return true
    }
    return retrying(clock, { afterMs: startAgainMs, isRetried }, call)
  }

  /** Makes a call that a chore repeats anyway, so that its failure does not prevent the start. */
  async #attempt(call: () => Promise<unknown>): Promise<void> {
    try {
      await call()
    } catch (error) {
      if (PawlError.is(error)) throw error
      this.#report(error)
    }
  }

  /**
   * Claims nothing more, hands back the runs without running bodies, waits for the others, and hands back the rest. Other
   * workers continue unfinished runs.
   */
  async stop(withinMs: number): Promise<void> {
    if (this.#state !== 'working') return
    this.#state = 'stopping'
    this.#slots.close()
    this.#runs.offerAll()
    await this.#within(withinMs, this.#atRest())
    this.#reports.flush(true)
    this.#leave()
    await this.#handBack()
  }

  /** Hands back the runs. An unresponsive store does not delay the stop: the lease expires, and other workers continue them. */
  async #handBack(): Promise<void> {
    const { store, logger } = this.#options
    try {
      const answered = await this.#within(handBackMs, store.workers.release(this.#lease.worker))
      if (!answered) throw new Error(`the store did not answer within ${handBackMs} ms`)
    } catch (error) {
      logger.warn('Worker could not hand back its runs; other workers resume them when its lease expires', {
        error,
      })
    }
  }

  /** Returns whether it was done in time. */
  #within(ms: number, done: Promise<void>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const callOff = this.#options.clock.after(ms, () => resolve(false))
      done.finally(callOff).then(() => resolve(true), reject)
    })
  }

  get #isStopped(): boolean {
    return this.#state === 'stopped'
  }

  /** Stops as a crash would: everything is dropped, nothing is written. */
  kill(): void {
    if (!this.#isStopped) this.#leave()
  }

  /** Whether nothing is running and nothing is being written: only time or a message would change that. */
  get isAtRest(): boolean {
    return this.#committer.isAtRest && !this.#claims.isClaiming && !this.#isLooking && this.#runs.isAtRest
  }

  /** Resolves when no body is running and all results are written, including results of runs that are moving or reading mail. */
  async #atRest(): Promise<void> {
    while (this.#slots.taken > 0) await this.#slots.released()
    for (;;) {
      await this.#committer.idle()
      if (!this.#runs.owes) return
      await this.#committer.changed()
    }
  }

  #leave(): void {
    this.#state = 'stopped'
    this.#claims.stop()
    this.#unwatch()
    this.#chores.stop()
    this.#committer.close()
    this.#runs.dropOwned()
    this.#runs.dropKept()
  }

  #onHint(): void {
    this.#options.notifier.notifyAll()
    this.#chores.onHint()
  }

  #adopt(claimed: Claimed, worker: WorkerKey): void {
    // The worker stopped while it claimed: the claimed runs have been handed back.
    if (!this.#isStopped) this.#runs.adopt(claimed, null, worker)
  }

  /** Claims runs that are due, and asks for new messages. Calls during an earlier one are made together, after it. */
  #lookAtOthers(): void {
    this.#claims.claimSoon()
    this.#looksAgain = true
    if (this.#isLooking) return
    this.#isLooking = true
    void this.#readMail().finally(() => {
      this.#isLooking = false
    })
  }

  async #readMail(): Promise<void> {
    while (this.#looksAgain && this.#state === 'working') {
      this.#looksAgain = false
      await this.#runs.readMailCounters().catch(this.#report)
    }
  }

  readonly #report = (error: unknown): void => {
    if (this.#state === 'working') this.#throttledLog.add('Store did not answer; retrying', error)
  }

  #createServices(procedures: Procedures): Omit<WorkerServices, 'worker'> {
    const { store, clock, entropy, effects, sha256, notifier, logger, determinism, bugs } = this.#options
    const {
      escalateTo,
      decider,
      policy,
      replay,
      maxCrashes,
      maxDescendants,
      slices = slicesByDefault,
      logLimits = defaultLogLimits,
    } = this.#options
    return {
      ...{ store, clock, entropy, effects, sha256, notifier, logger, determinism, bugs },
      ...{ escalateTo, decider, policy, replay, maxCrashes, slices, logLimits },
      allowGrace: this.#options.allowGrace ?? allowGrace,
      reports: this.#reports,
      observer: this.#options.observer,
      time: this.#time,
      askIds: this.#askIds,
      slots: this.#slots,
      families: new Families(clock, maxDescendants),
      remarks: new Remarks(logger),
      procedure: (name, version) => procedures.find(name, version),
      tellOthers: () => this.#lookAtOthers(),
    }
  }
}
