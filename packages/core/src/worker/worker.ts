import type { AgentDefinition } from '../authoring/agent/agent.ts'
import type { AskSpec } from '../authoring/operations.ts'
import type { Bugs, ProcedureDefinition } from '../authoring/procedure.ts'
import type { Sha256 } from '../base/hash.ts'
import type { Notifier } from '../base/notifier.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { outsideTurn } from '../host/outside-turn.ts'
import { nextRound, RoundLimiter } from '../host/rounds.ts'
import type { TurnOwner } from '../kernel/turns.ts'
import { canExecute } from '../ports/abilities.ts'
import type { Clock } from '../ports/clock.ts'
import type { Effects } from '../ports/effects.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { CreatedRun, LocalWorker } from '../ports/local-worker.ts'
import type { Logger } from '../ports/logger.ts'
import type { Claimant, Claimed } from '../ports/store/claims.ts'
import type { Message } from '../ports/store/mail.ts'
import type { RunKey } from '../ports/store/runs.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { WorkerKey } from '../ports/store/workers.ts'
import { Committer } from './committer.ts'
import { ContinuationCache } from './continuation-cache.ts'
import { OutputCache } from './output-cache.ts'
import { OwnedRuns } from './owned-runs.ts'
import { Procedures } from './procedures.ts'
import { Remarks } from './remarks.ts'
import { Run } from './run/run.ts'
import { RunReports } from './run-reports.ts'
import type { RunCallbacks, Slices, WorkerServices } from './services.ts'
import { Slots } from './slots.ts'
import { StoreTime } from './store-time.ts'
import { SuspectTests } from './suspect-tests.ts'
import { ThrottledLog } from './throttled-log.ts'
import { reportUnclaimable } from './unclaimable-runs.ts'

/** The truth behind lost hints: due runs, and mail of owned runs, are asked for this often. */
const pollMs = 1_000
/** A worker holds so many runs in its hands at once; more due ones wait for the next claim, here or elsewhere. */
const maxOwned = 1_000
const claimAtOnce = 100
const slicesByDefault: Slices = { begun: 250, drafts: 500 }
/** Maximum runs that begin to read their logs in one round of the event loop. */
const maxLoadsPerRound = 100
/** So long a store may take for what a stopping worker hands back. */
const handBackMs = 1_000
/** So long a store that could be opened may fail before a worker that starts gives up. */
const startWithinMs = 3_000
const startAgainMs = 200
/** The store is said to answer again once no call has failed for so long. */
const wellMs = 5_000
/** Runs that are stuck are tried when a worker starts, and then again after each of these: a deploy takes its time. */
const retryStuckAfterMs = [10_000, 60_000, 300_000, 1_800_000]
/** The first look for runs that no engine can execute is so long after the start: engines that start together see each other. */
const unclaimableAfterMs = 5_000
const unclaimableEveryMs = 60_000
/** So long all places of bodies may be taken, and others wait, before that is said. */
const jamMs = 30_000

export interface WorkerOptions {
  readonly store: StorePort
  readonly clock: Clock
  readonly entropy: Entropy
  readonly effects: Effects
  readonly sha256: Sha256
  readonly notifier: Notifier
  readonly logger: Logger
  readonly procedures: readonly ProcedureDefinition[]
  readonly decider: AgentDefinition | undefined
  readonly escalateTo: string | undefined
  readonly determinism: TurnOwner['determinism']
  /** What a programming error does to its run, if its procedure does not say. */
  readonly bugs: Bugs
  /** Positive tests of a run that was tested alone before it is quarantined. */
  readonly maxCrashes: number
  /** Steps at work at once. */
  readonly concurrency: number
  readonly leaseMs: number
  /** For people: host and process. */
  readonly name: string
  /** How many continuations of waiting runs are kept in memory, and how many bytes they may have been given. */
  readonly keep: { readonly runs: number; readonly bytes: number }
  readonly replay: WorkerServices['replay']
  /** Default: 250 operations begin at once, and a unit has 500 drafts. */
  readonly slices?: Slices
}

/**
 * Executes runs: registers, claims what is due, renews its lease, sweeps up after dead workers, and hands
 * everything back when it stops.
 */
export class Worker implements LocalWorker {
  readonly #options: WorkerOptions
  readonly #procedures: Procedures
  readonly #time: StoreTime
  readonly #slots: Slots
  readonly #committer: Committer<Run>
  readonly #owned = new OwnedRuns<Run>()
  readonly #kept: ContinuationCache<Run>
  readonly #outputs = new OutputCache()
  readonly #complaints: ThrottledLog
  readonly #reports: RunReports
  readonly #tests: SuspectTests
  readonly #host: RunCallbacks<Run>
  #worker: WorkerKey = -1
  #state: 'new' | 'working' | 'stopping' | 'stopped' = 'new'
  #claiming = false
  #claimAgain = false
  #callOff: (() => void)[] = []
  /** When the next unowned run is due, as far as is known. */
  #dueAt = Number.POSITIVE_INFINITY
  #callOffDue: () => void = () => {}
  #stuckRetries = 0
  #retriesStuckAt = 0
  /** Since when no body has ended although others wait for its place; in the future once that was said. */
  #jam = { releases: -1, since: 0 }
  /** When the store was asked that last said this worker is alive. */
  #provenAt = Number.NEGATIVE_INFINITY

  constructor(options: WorkerOptions) {
    this.#options = { ...options, logger: outsideTurn(options.logger) }
    this.#procedures = new Procedures(options.procedures)
    this.#time = new StoreTime(options.clock)
    this.#slots = new Slots(options.concurrency, () => this.#hasLease)
    this.#kept = new ContinuationCache(options.keep)
    const { store, clock, logger } = this.#options
    this.#complaints = new ThrottledLog(logger, clock, 'the store answers again')
    this.#reports = new RunReports(logger, clock)
    this.#tests = new SuspectTests({ store, clock, logger }, () => this.onDue())
    this.#committer = new Committer({ store, clock, logger, worker: () => this.#worker })
    this.#host = this.#createHost()
  }

  // ── life

  /** Takes up what was left behind, and works until it is stopped. */
  async start(): Promise<void> {
    const { store, leaseMs } = this.#options
    this.#time.learn(await this.#insist(() => store.now()))
    await this.#insist(() => this.#register())
    this.#state = 'working'
    this.#callOff.push(store.watch(() => this.#onHint()))
    await Promise.all([this.#attempt(() => store.sweep()), this.#attempt(() => this.#retryStuck())])
    this.#every(leaseMs / 5, () => this.#beat())
    this.#every(leaseMs / 5, () => this.#sweep())
    this.#every(pollMs, () => this.#poll())
    this.#every(unclaimableEveryMs, () => reportUnclaimable(store, this.#options.logger), unclaimableAfterMs)
    await this.#attempt(() => this.#claim())
  }

  /** What no worker can begin without: asked again for a while. A store that says it is unusable is believed. */
  async #insist<T>(call: () => Promise<T>): Promise<T> {
    const { clock, logger } = this.#options
    const startedAt = clock.elapsed()
    for (;;) {
      try {
        return await call()
      } catch (error) {
        const isOver = clock.elapsed() - startedAt > startWithinMs || this.#state === 'stopped'
        if (isOver || PawlError.is(error)) throw error
        logger.error('the store did not answer; trying again', { error })
        await new Promise<void>((resolve) => clock.after(startAgainMs, resolve))
      }
    }
  }

  /** What is tried again anyway, with the next sweep or poll: that it failed at the start is no more than if it did later. */
  async #attempt(call: () => Promise<unknown>): Promise<void> {
    try {
      await call()
    } catch (error) {
      if (PawlError.is(error)) throw error
      this.#report(error)
    }
  }

  /**
   * Takes no new work, hands back what nobody is at work for, waits for what is at work, and hands back the rest. What is
   * unfinished goes on elsewhere.
   */
  async stop(withinMs: number): Promise<void> {
    if (this.#state !== 'working') return
    this.#state = 'stopping'
    this.#slots.close()
    for (const run of this.#owned) this.#committer.add(run)
    await this.#within(withinMs, this.#atRest())
    this.#reports.flush(true)
    this.#leave()
    await this.#handBack()
  }

  /** A store that does not answer keeps nobody here: the lease runs out, and the runs go on elsewhere all the same. */
  async #handBack(): Promise<void> {
    const { store, logger } = this.#options
    try {
      const answered = await this.#within(handBackMs, store.release(this.#worker))
      if (!answered) throw new Error(`the store did not answer within ${handBackMs} ms`)
    } catch (error) {
      logger.warn('this worker could not hand back its runs; they go on elsewhere when its lease runs out', {
        error,
      })
    }
  }

  /** Whether it was done in time. */
  #within(ms: number, done: Promise<void>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const callOff = this.#options.clock.after(ms, () => resolve(false))
      done.finally(callOff).then(() => resolve(true), reject)
    })
  }

  /** As a crash would: everything is dropped, nothing is written. */
  kill(): void {
    if (this.#state !== 'stopped') this.#leave()
  }

  /** Nothing is at work and nothing is being written: only time or a message would change that. */
  get isAtRest(): boolean {
    return this.#committer.isAtRest && !this.#claiming && [...this.#owned].every((run) => run.isAtRest)
  }

  /** Nothing is at work, and what has come of it is written: also of runs that are moving, or reading their mail. */
  async #atRest(): Promise<void> {
    while (this.#slots.taken > 0) await this.#slots.released()
    for (;;) {
      await this.#committer.idle()
      if (![...this.#owned].some((run) => run.owes)) return
      await this.#committer.changed()
    }
  }

  #leave(): void {
    this.#state = 'stopped'
    this.#callOffDue()
    for (const callOff of this.#callOff) callOff()
    this.#committer.close()
    this.#dropAll()
    this.#kept.clear()
  }

  #dropAll(): void {
    const runs = [...this.#owned]
    this.#owned.clear()
    this.#tests.clear()
    for (const run of runs) {
      run.drop()
      this.#committer.remove(run)
    }
  }

  #every(ms: number, body: () => Promise<void>, firstMs = ms): void {
    let callOff = (): void => {}
    const again = (afterMs: number): void => {
      callOff = this.#options.clock.after(
        afterMs,
        () =>
          void body()
            .catch(this.#report)
            .then(() => this.#state !== 'stopped' && again(ms)),
        true,
      )
    }
    again(firstMs)
    this.#callOff.push(() => callOff())
  }

  // ── the lease

  get #claimant(): Claimant {
    return { worker: this.#worker, procedures: this.#procedures.versions, suspects: this.#tests.claims }
  }

  async #register(): Promise<void> {
    const { store, name, leaseMs, clock } = this.#options
    const askedAt = clock.elapsed()
    this.#worker = await store.register({ name, leaseMs, procedures: this.#procedures.versions })
    this.#provenAt = askedAt
  }

  /** An effect begun without a proven lease would likely be begun by somebody else as well. */
  get #hasLease(): boolean {
    const { clock, leaseMs } = this.#options
    return clock.elapsed() - this.#provenAt < leaseMs
  }

  /** A worker that was declared dead owns nothing any more: it drops everything and registers as a new one. */
  async #beat(): Promise<void> {
    const { store, clock, logger } = this.#options
    const askedAt = clock.elapsed()
    if (await store.beat(this.#worker)) this.#provenAt = askedAt
    else {
      logger.warn('this worker was taken for dead; its runs go on elsewhere, and it begins anew')
      this.#dropAll()
      await this.#register()
    }
    this.#slots.look()
  }

  async #sweep(): Promise<void> {
    if ((await this.#options.store.sweep()) > 0) await this.#claim()
  }

  // ── finding work

  claimant(): Claimant | null {
    return this.#takesWork ? this.#claimant : null
  }

  get #takesWork(): boolean {
    return this.#state === 'working' && this.#owned.size < maxOwned
  }

  holds(run: string): boolean {
    return this.#hasLease && this.#owned.hasId(run)
  }

  outputOf(run: string): { readonly output: Uint8Array | null } | undefined {
    return this.#outputs.find(run)
  }

  knows(procedure: string, version: number | null): boolean {
    return canExecute(this.#procedures.versions, procedure, version)
  }

  signalsOf(procedure: string, version: number): readonly string[] | undefined {
    const definition = this.#procedures.find(procedure, version)
    return definition === undefined ? undefined : [...definition.signals.keys()]
  }

  checkOf(run: RunKey, position: number): AskSpec['check'] {
    return (this.#owned.find(run) ?? this.#kept.find(run))?.checkOf(position)
  }

  onCreated({ claimed, started }: CreatedRun): void {
    if (this.#state !== 'working') return
    this.#time.learn(started.at)
    this.#outputs.forget(claimed.id)
    const run = new Run(this.#host, claimed)
    this.#owned.add(run)
    run.begin(started)
  }

  onClaimed(claimed: Claimed, message: Message | null): void {
    if (this.#state !== 'working') return
    if (message !== null) this.#time.learn(message.at)
    this.#adopt(claimed, message)
  }

  onMail(key: RunKey, message: Message | null): void {
    const run = this.#owned.find(key)
    // Let go of while the message was on its way: it is due, and whoever sent it could not claim it.
    if (run === undefined) return this.onDue()
    if (message !== null) run.onMessage(message)
    else this.#readCounters().catch(this.#report)
  }

  async #poll(): Promise<void> {
    this.#watchSlots()
    this.#reports.flush()
    await this.#claim()
    await this.#readCounters()
    if (this.#options.clock.elapsed() >= this.#retriesStuckAt && (await this.#retryStuck()) > 0)
      await this.#claim()
    this.#complaints.settle(wellMs)
  }

  /** Bodies that wait for what other bodies shall do, which wait for their places, wait for ever. */
  #watchSlots(): void {
    const { clock, logger } = this.#options
    const { releases, queued, taken } = this.#slots
    if (queued === 0 || releases !== this.#jam.releases) this.#jam = { releases, since: clock.elapsed() }
    else if (clock.elapsed() - this.#jam.since >= jamMs) {
      logger.warn(
        `for ${jamMs / 1_000} s none of the ${taken} bodies at work has ended, and ${queued} wait for a place. Do they wait for other runs? Raise concurrency, or wait outside of steps`,
      )
      this.#jam = { releases, since: Number.POSITIVE_INFINITY }
    }
  }

  /**
   * Perhaps its code is what stuck runs were waiting for. Not once only: while a deploy is under way a worker with
   * other code may be quicker to take them, and to get stuck in them once more. Returns how many are due now.
   */
  async #retryStuck(): Promise<number> {
    const { store, clock } = this.#options
    // Once, however many polls are under way.
    this.#retriesStuckAt = Number.POSITIVE_INFINITY
    try {
      const count = await store.retryStuck(this.#claimant)
      const pauseMs = retryStuckAfterMs[this.#stuckRetries++] ?? Number.POSITIVE_INFINITY
      this.#retriesStuckAt = clock.elapsed() + pauseMs
      return count
    } catch (error) {
      this.#retriesStuckAt = clock.elapsed()
      throw error
    }
  }

  #onHint(): void {
    this.#options.notifier.notifyAll()
    this.#poll().catch(this.#report)
  }

  onDue(): void {
    this.#claim().catch(this.#report)
  }

  readonly #report = (error: unknown): void => {
    if (this.#state === 'working') this.#complaints.add('the store did not answer; trying again', error)
  }

  async #readCounters(): Promise<void> {
    if (this.#owned.size === 0) return
    for (const { run, mail } of await this.#options.store.mailOf(this.#worker))
      this.#owned.find(run)?.onMail(mail)
  }

  /** One claim at a time; what comes to be due meanwhile is claimed right after. */
  async #claim(): Promise<void> {
    this.#claimAgain = true
    if (this.#claiming) return
    this.#claiming = true
    try {
      while (this.#claimAgain && this.#takesWork) {
        this.#claimAgain = false
        const limit = Math.min(claimAtOnce, maxOwned - this.#owned.size)
        const claims = await this.#options.store.claim(this.#claimant, limit)
        const { runs, at, nextDueAt } = claims
        this.#time.learn(at)
        for (const claimed of runs) this.#adopt(claimed)
        // Stopped meanwhile. That there is no room left is no reason to return: the rest has to be claimed later.
        if (this.#state !== 'working') return
        const room = maxOwned - this.#owned.size
        for (const claimed of await this.#tests.takeNext(this.#claimant, claims, room)) this.#adopt(claimed)
        if (runs.length === limit) {
          this.#claimAgain = true
          // Each of them reads its log now.
          await nextRound()
        }
        // What is due already and could not be taken is for others, or for later: the poll looks again.
        if (nextDueAt !== null && nextDueAt > at) this.#armDue(nextDueAt)
      }
    } finally {
      this.#claiming = false
    }
  }

  /** What was left unclaimed for want of room is claimed when there is plenty of it again. */
  #claimIfRoom(): void {
    if (this.#claimAgain && !this.#claiming && this.#owned.size <= maxOwned / 2) this.onDue()
  }

  /** Claims again when the next run is due; the poll would be up to a second late. */
  #armDue(dueAt: number | null): void {
    if (dueAt === null || this.#state !== 'working' || dueAt >= this.#dueAt) return
    this.#callOffDue()
    this.#dueAt = dueAt
    this.#callOffDue = this.#options.clock.after(Math.max(0, dueAt - this.#time.now()), () => {
      this.#dueAt = Number.POSITIVE_INFINITY
      this.onDue()
    })
  }

  #adopt(claimed: Claimed, message: Message | null = null): void {
    // An answer that came after the end: what was claimed has been handed back.
    if (this.#state === 'stopped') return
    // Claimed again before we heard that it was let go: what we hold of it is not the owner any more.
    this.#owned.find(claimed.run)?.drop()
    this.#tests.add(claimed)
    const kept = this.#kept.take(claimed.run)
    if (kept?.continues(claimed)) {
      this.#owned.add(kept)
      return kept.wake(claimed, message)
    }
    kept?.drop()
    this.#outputs.forget(claimed.id)
    const run = new Run(this.#host, claimed)
    this.#owned.add(run)
    run.load(message)
  }

  // ── what runs tell

  #createHost(): RunCallbacks<Run> {
    const worker = this
    const { store, clock, entropy, effects, sha256, notifier, logger, determinism, bugs } = this.#options
    const { escalateTo, decider, replay, maxCrashes } = this.#options
    return {
      ...{ store, clock, entropy, effects, sha256, notifier, logger, determinism, bugs },
      ...{ escalateTo, decider, replay, maxCrashes, reports: this.#reports },
      time: this.#time,
      slots: this.#slots,
      loads: new RoundLimiter(maxLoadsPerRound),
      remarks: new Remarks(logger),
      slices: this.#options.slices ?? slicesByDefault,
      get worker() {
        return worker.#worker
      },
      get handsOver() {
        return worker.#state === 'stopping' && !worker.#committer.isFailing
      },
      procedure: (name, version) => this.#procedures.find(name, version),
      onReady: (run) => this.#committer.add(run),
      onProgress: (run) => this.#tests.remove(run.key),
      onParked: (run, wakeAt) => {
        this.#owned.remove(run)
        this.#kept.add(run)
        this.#armDue(wakeAt)
        this.#tests.remove(run.key)
        this.#claimIfRoom()
      },
      onCompleted: (run, output) => this.#outputs.add(run.id, output),
      onGone: (run) => {
        run.drop()
        this.#committer.remove(run)
        this.#owned.remove(run)
        this.#kept.forget(run)
        this.#tests.remove(run.key)
        this.#claimIfRoom()
      },
    }
  }
}
