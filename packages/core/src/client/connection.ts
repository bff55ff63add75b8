import { AskIds } from '../asks/ask-id.ts'
import { formatDuration } from '../base/duration.ts'
import type { Sha256 } from '../base/hash.ts'
import type { Notifier } from '../base/notifier.ts'
import { PawlError } from '../errors/pawl-error.ts'
import { rounds } from '../host/rounds.ts'
import type { Clock } from '../ports/clock.ts'
import type { Entropy } from '../ports/entropy.ts'
import type { LocalWorker } from '../ports/local-worker.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { Claimant } from '../ports/store/claims.ts'
import type { StorePort } from '../ports/store/store.ts'
import { AnswerRules } from './inbox/rules.ts'

/** Poll interval of a wait. Needed if hints can be lost, or if time alone can end the wait. */
const pollMs = 1_000
/** Extra time after a wait's timeout before it gives up on a store that does not answer. */
const graceMs = 1_000
/** Work of a call that starts to read, in rows: a store may read synchronously. */
const workOfCall = 4
const maxWarnings = 1_000

export interface ConnectionOptions {
  readonly store: StorePort
  readonly notifier: Notifier
  readonly clock: Clock
  readonly entropy: Entropy
  readonly sha256: Sha256
  readonly logger: Logger
  /** Default: none. */
  readonly observer?: Observer | undefined
  /** The worker in this process; undefined for a standalone client, which opens the store on first use. */
  readonly localWorker: LocalWorker | undefined
  /** Whether the store never loses a hint. Default: false. */
  readonly hintsAreSure?: boolean
  /** Whether a person may answer the asks of runs they started. Default: true. */
  readonly selfApproval?: boolean
}

/** Connects a client to its store. */
export class Connection {
  readonly notifier: Notifier
  readonly clock: Clock
  readonly entropy: Entropy
  readonly sha256: Sha256
  /** Known as soon as `store` has returned. */
  readonly askIds: AskIds
  readonly localWorker: LocalWorker | undefined
  readonly observer: Observer | undefined
  readonly answerRules: AnswerRules
  readonly #logger: Logger
  readonly #store: StorePort
  readonly #hintsAreSure: boolean
  /** Warnings that were logged, so that each is logged once. */
  readonly #warnings = new Set<string>()
  #opened: Promise<void> | null = null
  #unwatch: (() => void) | null = null
  #stopped = false

  constructor({
    store,
    notifier,
    clock,
    entropy,
    sha256,
    logger,
    observer,
    localWorker,
    hintsAreSure = false,
    selfApproval = true,
  }: ConnectionOptions) {
    this.notifier = notifier
    this.entropy = entropy
    this.sha256 = sha256
    this.askIds = new AskIds(sha256)
    this.localWorker = localWorker
    this.observer = observer
    this.#logger = logger
    this.#store = store
    this.#hintsAreSure = hintsAreSure
    this.clock = clock
    this.answerRules = new AnswerRules(selfApproval)
  }

  /** Returns the store for a new call. Of many calls made together, each round of the event loop starts some. @throws as `store` */
  async begin(): Promise<StorePort> {
    await rounds.enter(workOfCall)
    return this.store()
  }

  /** Returns the store, connected and migrated. @throws PawlError 'engine-stopped', 'store-unusable' */
  async store(): Promise<StorePort> {
    if (this.#stopped) throw new PawlError('engine-stopped', {})
    if (this.localWorker === undefined) await this.#open()
    if (!this.askIds.isKnown) this.askIds.learn(await this.#store.askIdKey())
    return this.#store
  }

  /** Returns the worker of this process while it claims runs. @throws PawlError 'engine-stopped' */
  claimant(): Claimant | null {
    if (this.#stopped) throw new PawlError('engine-stopped', {})
    return this.localWorker?.claimant() ?? null
  }

  /**
   * Calls `look` until it returns a value: at once, on every notification of the topic, and once a second.
   * `comes` says how the value appears: a value that only a write can create is not polled for if hints are reliable.
   * @throws PawlError 'wait-timed-out', 'engine-stopped'
   */
  wait<Seen>(
    topic: string,
    look: () => Promise<Seen | undefined>,
    timeoutMs: number | null,
    comes: 'by-writes' | 'with-time' = 'with-time',
  ): Promise<Seen> {
    const polls = !this.#hintsAreSure || comes === 'with-time'
    const seen = this.#lookUntil(topic, look, timeoutMs, polls)
    if (timeoutMs === null) return seen
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        const after = formatDuration(timeoutMs)
        const what = `The wait timed out after ${after}, and the store does not answer.`
        reject(new PawlError('wait-timed-out', { after }, { what }))
      }
      // Two timers in a row, so that a process that was blocked still looks a last time.
      let callOff = this.clock.after(timeoutMs, () => {
        callOff = this.clock.after(graceMs, giveUp)
      })
      seen.finally(() => callOff()).then(resolve, reject)
    })
  }

  async #lookUntil<Seen>(
    topic: string,
    look: () => Promise<Seen | undefined>,
    timeoutMs: number | null,
    polls: boolean,
  ): Promise<Seen> {
    const until = timeoutMs === null ? null : this.clock.elapsed() + timeoutMs
    // Before the first listener is added: a store that cannot be opened sends no hints.
    await this.begin()
    this.#watch()
    for (;;) {
      const rung = this.#listen(topic, until, polls)
      try {
        const seen = await look()
        if (seen !== undefined) return seen
        const left = until === null ? null : until - this.clock.elapsed()
        if (left !== null && left <= 0)
          throw new PawlError('wait-timed-out', { after: formatDuration(timeoutMs ?? 0) })
        await rung.wait
        // One hint may wake all waits.
        const entered = rounds.enter(workOfCall)
        if (entered !== undefined) await entered
      } catch (error) {
        // The read was under way when the store was closed.
        throw this.#stopped && !PawlError.is(error) ? new PawlError('engine-stopped', {}) : error
      } finally {
        rung.stop()
      }
    }
  }

  warn(warning: string, fields: object): void {
    this.#logger.warn(warning, fields)
  }

  /** Logs a warning unless it is among the last thousand. */
  warnOnce(warning: string): void {
    if (this.#warnings.has(warning)) return
    if (this.#warnings.size >= maxWarnings) this.#warnings.clear()
    this.#warnings.add(warning)
    this.#logger.warn(warning)
  }

  async stop(): Promise<void> {
    if (this.#stopped) return
    this.#stopped = true
    this.#unwatch?.()
    this.notifier.notifyAll()
    // Beside a worker, the engine closes the store.
    if (this.localWorker !== undefined) return
    await this.#opened?.catch(() => {})
    await this.#store.close()
  }

  #listen(
    topic: string,
    until: number | null,
    polls: boolean,
  ): { readonly wait: Promise<void>; readonly stop: () => void } {
    let resolve = (): void => {}
    const wait = new Promise<void>((resolved) => {
      resolve = resolved
    })
    const unlisten = this.notifier.listen(topic, () => resolve())
    const polled = polls ? this.clock.after(pollMs, () => resolve(), true) : () => {}
    const over =
      until === null ? () => {} : this.clock.after(Math.max(0, until - this.clock.elapsed()), () => resolve())
    return {
      wait,
      stop: () => {
        unlisten()
        polled()
        over()
      },
    }
  }

  /** Watches the store, unless a worker in this process does so for both. */
  #watch(): void {
    if (this.localWorker !== undefined || this.#unwatch !== null || this.#stopped) return
    this.#unwatch = this.#store.watch(() => this.notifier.notifyAll())
  }

  #open(): Promise<void> {
    this.#opened ??= this.#store.open().catch((error) => {
      this.#opened = null
      throw error
    })
    return this.#opened
  }
}
