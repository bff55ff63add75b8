import { rounds, type Task } from '../host/rounds.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { Observer } from '../ports/observer.ts'
import type { Effect, Unit, UnitOutcome } from '../ports/store/log.ts'
import { payloadBytesOf } from '../ports/store/payload-bytes.ts'
import type { StorePort } from '../ports/store/store.ts'
import type { WorkerKey } from '../ports/store/workers.ts'
import { ThrottledLog } from './throttled-log.ts'

/**
 * Maximum rows and bytes in one transaction, unless a single unit has more. A store may run a transaction synchronously
 * and block the event loop.
 */
const maxRows = 1_000
const maxBytes = 8 * 2 ** 20
/** Maximum number of runs that are asked for a unit at once: some turn out to have nothing to write. */
const maxAsked = 500
/** Minimum number of units that justifies a separate transaction. */
const minUnits = 16
const retryFirstMs = 50
const retryMostMs = 2_000

export interface CommitterOptions {
  readonly store: StorePort
  readonly worker: () => WorkerKey
  readonly clock: Clock
  readonly logger: Logger
  readonly observer: Observer | undefined
}

/** A run, as the committer uses it. */
export interface Writer {
  readonly id: string
  /** Returns the unit to write now; null if there is nothing to write. */
  prepare(): Unit | null
  onOutcome(unit: Unit, outcome: UnitOutcome): void
  /** Called when the unit was not written. */
  takeBack(): void
}

/**
 * Commits in groups: units that become ready while a transaction is in flight share the next one. A run has at most one
 * unit in flight, and composes it only when it is written. A run that another unit of the group creates or writes to
 * waits for the next group.
 */
export class Committer {
  readonly #options: CommitterOptions
  readonly #throttledLog: ThrottledLog
  readonly #ready = new Set<Writer>()
  readonly #lanes: number
  #scheduled = false
  #isClosed = false
  #inFlight = 0
  #failures = 0
  /** The number of failed calls that wait to be retried. */
  #waiting = 0
  readonly #task: Task = {
    // A ready run has at least its own row and an event to write.
    weigh: () => Math.min(maxRows, 2 * this.#ready.size),
    run: () => this.#flush(),
  }
  #onIdle: (() => void)[] = []
  #onChange: (() => void)[] = []

  constructor(options: CommitterOptions) {
    this.#options = options
    this.#throttledLog = new ThrottledLog(options.logger, options.clock, 'Store accepts writes again')
    this.#lanes = options.store.commitsInFlight ?? 1
  }

  add(run: Writer): void {
    this.#ready.add(run)
    this.#schedule()
    this.#tellChange()
  }

  remove(run: Writer): void {
    this.#ready.delete(run)
    this.#tellChange()
  }

  /** Resolves when nothing is being written and no run has anything to write. */
  idle(): Promise<void> {
    if (this.isIdle) return Promise.resolve()
    return new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /** Resolves when a run next has something to write, or is gone. */
  changed(): Promise<void> {
    return new Promise((resolve) => this.#onChange.push(resolve))
  }

  /** Whether the last call has failed. */
  get isFailing(): boolean {
    return this.#failures > 0
  }

  get isIdle(): boolean {
    return this.#inFlight === 0 && this.#ready.size === 0
  }

  /** Whether only time can change anything: nothing is to be written, or the store cannot write at present. */
  get isAtRest(): boolean {
    return this.#inFlight === this.#waiting && (this.#ready.size === 0 || this.#inFlight >= this.#lanes)
  }

  #schedule(): void {
    if (this.#scheduled || this.#inFlight >= this.#lanes || this.#ready.size === 0) return
    this.#scheduled = true
    // Deferred, so that units that become ready in this round of the event loop are included.
    rounds.add(this.#task)
  }

  /** Flushes a transaction and returns its rows. */
  #flush(): number {
    this.#scheduled = false
    const runs: Writer[] = []
    const units: Unit[] = []
    const others = new OtherRuns(runs)
    const heldBack: Writer[] = []
    const max = this.#share()
    let asked = 0
    let rows = 0
    let bytes = 0
    for (const run of this.#ready) {
      if (units.length === max || asked === maxAsked || rows >= maxRows || bytes >= maxBytes) break
      if (others.has(run.id)) continue
      this.#ready.delete(run)
      asked++
      const unit = run.prepare()
      if (unit === null) continue
      if (!others.admit(unit)) {
        heldBack.push(run)
        continue
      }
      runs.push(run)
      units.push(unit)
      rows += countRows(unit)
      bytes += countBytes(unit)
    }
    for (const run of heldBack) {
      run.takeBack()
      this.#ready.add(run)
    }
    if (units.length > 0) this.#write(runs, units)
    this.#settle()
    return Math.max(rows, asked)
  }

  /**
   * Returns the number of units for one transaction. If several transactions can be in flight, they share the ready units:
   * this process handles the outcome of one while the store works on another.
   */
  #share(): number {
    const share = Math.ceil(this.#ready.size / (this.#lanes - this.#inFlight))
    return Math.max(minUnits, share)
  }

  #write(runs: readonly Writer[], units: readonly Unit[]): void {
    this.#inFlight++
    this.#options.store.log.commit(this.#options.worker(), units).then(
      (outcomes) => {
        this.#inFlight--
        this.#failures = 0
        this.#throttledLog.settle()
        this.#options.observer?.committed({ runs: units.length, events: countEvents(units) })
        for (let i = 0; i < runs.length; i++)
          (runs[i] as Writer).onOutcome(units[i] as Unit, outcomes[i] as UnitOutcome)
        this.#settle()
      },
      (error) => this.#tryAgain(runs, error),
    )
  }

  /** Closes the committer: the results of writes in flight are ignored, and other workers continue the runs. */
  close(): void {
    this.#isClosed = true
  }

  /** Retries after the store could not write (a full disk, a lost server): nothing is lost, and runs wait until it can. */
  #tryAgain(runs: readonly Writer[], error: unknown): void {
    if (this.#isClosed) return
    const waitMs = Math.min(retryMostMs, retryFirstMs * 2 ** this.#failures++)
    this.#throttledLog.add(`Store could not write; retrying in ${waitMs} ms`, error)
    this.#waiting++
    this.#options.clock.after(waitMs, () => {
      this.#waiting--
      this.#inFlight--
      for (const run of runs) run.takeBack()
      this.#settle()
    })
  }

  #settle(): void {
    this.#schedule()
    if (!this.isIdle) return
    const waiting = this.#onIdle
    this.#onIdle = []
    for (const resolve of waiting) resolve()
  }

  #tellChange(): void {
    if (this.#onChange.length === 0) return
    const waiting = this.#onChange
    this.#onChange = []
    for (const resolve of waiting) resolve()
  }
}

/** The runs that the units of a group create or write to, beside their own. Nearly always there are none. */
class OtherRuns {
  readonly #group: readonly Writer[]
  #touched: Set<string> | null = null
  #created: Set<string> | null = null

  /** `group`: the runs of the units so far. */
  constructor(group: readonly Writer[]) {
    this.#group = group
  }

  has(id: string): boolean {
    return this.#touched?.has(id) === true
  }

  /** Adds the runs of a unit. False: one of them has a unit in the group, or one to be created is in it already. */
  admit({ effects }: Unit): boolean {
    if (effects.length === 0) return true
    if (!effects.some(isAboutOthers)) return true
    const created: string[] = []
    const touched: string[] = []
    for (const effect of effects) {
      if (effect.do === 'create-run') created.push(effect.run.id)
      else if (effect.do === 'send') touched.push(effect.message.run)
    }
    this.#touched ??= new Set()
    this.#created ??= new Set()
    for (const id of created) if (this.#touched.has(id)) return false
    for (const id of touched)
      if (this.#created.has(id) || this.#group.some((run) => run.id === id)) return false
    for (const id of created) this.#created.add(id)
    for (const id of [...created, ...touched]) this.#touched.add(id)
    return true
  }
}

function countEvents(units: readonly Unit[]): number {
  return units.reduce((count, { events }) => count + events.length, 0)
}

/** Counts the run's own row, one for each event, and the rows of effects. */
function countRows({ events, effects }: Unit): number {
  return 1 + events.length + effects.length
}

function isAboutOthers({ do: what }: Effect): boolean {
  return what === 'create-run' || what === 'send'
}

/** Counts the bytes of payload. By index: this runs for every unit. */
function countBytes({ events, effects }: Unit): number {
  let bytes = 0
  for (let i = 0; i < events.length; i++) bytes += events[i]?.payload?.length ?? 0
  for (let i = 0; i < effects.length; i++) bytes += payloadBytesOf(effects[i] as Effect)
  return bytes
}
