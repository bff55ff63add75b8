import { type LogEvent, noPosition } from '../events/event.ts'
import type {
  Completed,
  DamagedLog,
  Decision,
  Failed,
  ForeignAwait,
  Nondeterminism,
  Verdict,
} from './decision.ts'
import { describeEvent, describePending, Ordinals } from './identity.ts'
import { IssuedOperations } from './issued.ts'
import { LateResults } from './late.ts'
import { type Operation, type Pending, type Program, type Scopes, Unreadable } from './operation.ts'
import { Refusals } from './refusals.ts'
import { type Closing, closingOf, createScope, maxRefused, outermostOf, type Scope } from './scope.ts'
import type { TurnOwner, Turns } from './turns.ts'

/** The parts of a run that its execution uses. */
export interface ExecutionOptions<O extends Operation = Operation> {
  readonly id: string
  readonly program: Program<O>
  /** The position of its first operation. Default: 0. */
  readonly firstPosition?: number
  readonly turns: Turns
  readonly determinism: TurnOwner['determinism']
  readonly chance: { random(): number; uuid(): string }
  /** Reads a `cancelled` event. Throws {@link Unreadable} if its bytes cannot be decoded. */
  readonly readCancel?: (event: LogEvent) => Cancel
  /** Called once, when the procedure is first seen to run outside a turn. */
  readonly onForeign?: () => void
  /** Called when the context is used outside a turn after the run has ended. */
  readonly onLate?: (what: string) => void
  /** Called with each unhandled rejection when it is found; a handler may still be added. */
  readonly onUnhandled?: ((reason: unknown) => void) | undefined
  /** Called when a host timer fires that was set in one of its turns, unless the run is over by then. */
  readonly onTimerFired?: (api: string, site: () => string | undefined) => void
  /** Called for every issue that takes a position, to find the call site of one of them. */
  readonly onIssue?: ((position: number) => void) | undefined
}

interface Outcome {
  readonly failed: boolean
  readonly value: unknown
}

/** The content of a `cancelled` event. */
export interface Cancel {
  /** Whether the grace period for shields of a cancelled or returned run has passed. */
  readonly forced: boolean
  /** Creates the error with which an operation is rejected. */
  readonly error: () => unknown
}

/**
 * The kernel: executes a procedure driven by its log. There is no separate replay mode: a live run is the replay of a
 * log that is still being written.
 *
 * An operation takes the next position synchronously and becomes a plain pending promise. One event settles at most one
 * of them, and begins a turn; the caller (host/drain) drains all queues before it delivers the next event. That makes
 * `Promise.race` deterministic: the order of two events decides which branch wins.
 */
export class Execution<O extends Operation = Operation> implements TurnOwner, Scopes<O> {
  readonly id: string
  readonly determinism: TurnOwner['determinism']
  readonly #options: ExecutionOptions<O>
  readonly #turns: Turns

  #events: LogEvent[] = []
  #at = 0
  /** Whether the log is known to have more events than these. */
  #isMoreAhead = false

  readonly root: Scope = createScope(null)
  /** Operations that are settled without an event, each in its own turn before the next event. Null in most runs. */
  #refusals: Refusals<O> | null = null
  /** Operations closed without an event since the last decision. Null in most runs. */
  #closed: Pending<O>[] | null = null
  #openShields = 0
  /** The result or error of the procedure. The end waits for open shields and for pending rejections. */
  #outcome: Outcome | null = null
  /** Set if the run ends as soon as the pending rejections are delivered. */
  #isEndDue = false
  #graceFrom: number | null = null
  /** Set if the run's own end was forced: operations in `root` no longer settle, even behind a shield. */
  #forced: Closing | null = null
  #forcing: (() => unknown) | null = null
  #onForced: ((error: unknown) => void) | null = null
  /** Null in most runs. */
  #late: LateResults<O> | null = null

  /** The number of settling events delivered so far: the ordinal of the current turn. */
  #turn = 0
  /** The seq of the event that began this turn, or the one before it that did. */
  #seq = 0
  #time = 0
  #began = false

  readonly #issued: IssuedOperations<O>
  readonly #ordinals = new Ordinals()
  #lastIssued = 'the start'

  #end: Outcome | null = null
  #verdict: Verdict | null = null
  readonly #timers: string[] = []
  advice?: Set<string>
  /** The position of each failed operation, by the error its promise was rejected with. Null in most runs. */
  #failures: WeakMap<object, number> | null = null
  /** Null in most runs: an empty map for each loaded run would take memory. */
  #unhandled: Map<object, unknown> | null = null

  constructor(options: ExecutionOptions<O>) {
    this.#options = options
    this.id = options.id
    this.determinism = options.determinism
    this.#turns = options.turns
    this.#issued = new IssuedOperations(options.firstPosition ?? 0)
  }

  // ── called by the drain

  /**
   * Adds events of the log, in order; they are delivered one per turn. The first event of all is `started`. `isMoreAhead`:
   * the log is known to have more events.
   */
  enqueue(events: readonly LogEvent[], isMoreAhead = false): void {
    this.#isMoreAhead = isMoreAhead
    if (this.#at === this.#events.length) {
      this.#events = [...events]
      this.#at = 0
    } else for (const event of events) this.#events.push(event)
  }

  /** Returns the number of known deliveries ahead. */
  get outstanding(): number {
    if (this.isOver) return 0
    const known = this.#events.length - this.#at
    const isQuietDue = this.#isQuietDue && (known > 0 || !this.#isMoreAhead)
    return known + this.#unwritten + (this.#isEndDue ? 1 : 0) + (isQuietDue ? 1 : 0)
  }

  /** Makes the next delivery and returns; the turn lasts until the queues are drained. */
  deliverNext(): void {
    if (this.#unwritten > 0) return this.#deliverUnwritten()
    if (this.#isEndDue) return this.#endOrAwaitShields(this.#outcome as Outcome)
    while (this.#at < this.#events.length) {
      const event = this.#events[this.#at] as LogEvent
      if (this.#isQuietDue && !this.#issued.isLate(event)) return this.#callQuiet()
      this.#at++
      if (event.type === 'started' || !this.#began) return this.#begin(event)
      if (event.type === 'cancelled') return this.#cancel(event)
      if (event.type === 'ended') return this.#goesOn(event)
      if (event.type === 'accepted' || event.type === 'marked') continue
      const pending = this.#issued.recognise(event)
      if (pending === null && this.#issued.isSettled(event.position)) {
        if (this.#late === null || this.#readLate(event, this.#late)) continue
        return
      }
      if (pending === null) return this.#diverge(event, this.#issued.pending.get(event.position))
      if (event.type === 'settled') return this.#settle(event, pending)
      // All other events settle nothing: they begin no turn and do not advance the clock.
    }
    if (this.#isQuietDue && !this.#isMoreAhead) this.#callQuiet()
  }

  // ── read by the run

  /** Returns the state of the run, once everything is delivered and drained. Lists each operation once. */
  decide(): Decision<O> {
    if (this.#end !== null) return this.#endOf(this.#end.failed, this.#end.value)
    if (this.#verdict !== null) return this.#verdict
    if (this.#issued.isIdle) return this.#foreignAwait('it has no pending operation')
    const closed = this.#closed ?? none
    this.#closed = null
    return { state: 'waiting', issued: this.#issued.listNew(), closed }
  }

  /** Whether the decision needs a grace period: the procedure may still move outside a turn. */
  get needsGrace(): boolean {
    if (this.#end !== null) return false
    return this.#verdict === null ? this.#issued.isIdle : this.#verdict.state === 'nondeterminism'
  }

  /** The ordinal of the current turn. */
  get turn(): number {
    return this.#turn
  }

  /** The seq of the last event that began a turn. */
  get deliveredSeq(): number {
    return this.#seq
  }

  /** The position of the next operation. */
  get nextPosition(): number {
    return this.#issued.nextPosition
  }

  /** The number of operations without a result. */
  get pendingCount(): number {
    return this.#issued.pending.size
  }

  /** The operations without a result, by position. */
  get pending(): ReadonlyMap<number, Pending<O>> {
    return this.#issued.pending
  }

  /** The time of the first cancel, or of a return that open shields delay: the grace period starts here. */
  get graceFrom(): number | null {
    return this.#graceFrom
  }

  /** Unhandled rejections, for the report at the end. They never change the outcome. */
  get unhandled(): readonly unknown[] {
    return [...(this.#unhandled?.values() ?? [])]
  }

  // ── called by the procedure

  /**
   * Issues an operation. Synchronous up to the position, so that the order of the calls is the order of the positions.
   * Outside the run's own turn it returns a promise that never settles, since a throw could be caught, and the run gets
   * the verdict `foreign-await`.
   */
  readonly issue = (operation: O): Promise<unknown> => this.issueIn(this.root, operation)

  /** Issues in a scope. A scope closed in an earlier turn takes no position; within a turn, extra awaits make no difference. */
  issueIn(scope: Scope, operation: O): Promise<unknown> {
    if (this.#turns.current !== this) {
      this.foreign(`${operation.kind} "${operation.name}" was issued`)
      return new Promise(() => {})
    }
    const closing = this.#closingOf(scope)
    const isRefused = closing !== null && closing.turn < this.#turn
    if (isRefused && !this.#countRefused(closing)) return new Promise(() => {})
    const position = isRefused ? noPosition : this.#issued.takePosition()
    const turn = this.#turn
    const nth = this.#ordinals.next(turn, operation)
    this.#lastIssued = operation.name
    if (!isRefused) this.#options.onIssue?.(position)
    let pending!: Pending<O>
    const promise = new Promise<unknown>((resolve, reject) => {
      const issuedAt = this.#time
      pending = { position, turn, nth, operation, issuedAt, resolve, reject, scope, promise: null }
    })
    pending.promise = promise
    if (!isRefused) this.#issued.add(pending)
    if (closing !== null) this.#refuse(pending)
    return promise
  }

  close(scopes: readonly Scope[], error: () => unknown): void {
    if (this.#turns.current !== this) return this.foreign('a race or a map ended')
    const closing: Closing = { error, turn: this.#turn, refused: 0 }
    for (const scope of scopes) scope.closed ??= closing
    this.#refuseClosed()
  }

  adopt(promise: Promise<unknown>, from: Scope, to: Scope): 'adopted' | 'elsewhere' | 'none' {
    for (const some of [this.#issued.pending.values(), this.#refusals?.waiting ?? []])
      for (const pending of some) {
        if (pending.promise !== promise) continue
        if (pending.scope !== from) return 'elsewhere'
        pending.scope = to
        return 'adopted'
      }
    return 'none'
  }

  refusalOf(scope: Scope): Closing | null {
    const closing = this.#closingOf(scope)
    return closing !== null && closing.turn < this.#turn ? closing : null
  }

  openShield(parent: Scope): Scope {
    if (this.#turns.current !== this) this.foreign('a shield was begun')
    this.#openShields++
    return createScope(parent, true)
  }

  closeShield(scope: Scope): void {
    if (this.#turns.current !== this) return this.foreign('a shield ended')
    scope.shielded = false
    this.#openShields--
    if (this.#closingOf(scope) !== null) this.#refuseClosed()
    if (this.#outcome === null || this.#openShields > 0 || this.isOver) return
    if (this.#unwritten > 0) this.#isEndDue = true
    else this.#end = this.#outcome
  }

  onForced(callback: (error: unknown) => void): void {
    this.#onForced = callback
  }

  get isRejecting(): boolean {
    return this.#unwritten > 0
  }

  get isUnsettled(): boolean {
    if (this.#openShields > 0 || this.#late?.isEmpty === false) return true
    for (const { operation } of this.#issued.pending.values())
      if (operation.readLate !== undefined) return true
    return false
  }

  whenQuiet(awaitsShields: boolean, callback: () => void): void {
    this.#late ??= new LateResults()
    this.#late.await({ awaitsShields, callback })
    if (awaitsShields && this.#hasShields) this.#graceFrom ??= this.#time
  }

  /** Records that the procedure used its context outside its own turn. */
  foreign(what: string): void {
    const during = this.#turns.current
    if (during === this || this.#verdict?.state === 'foreign-await') return
    if (this.#end !== null) return this.#options.onLate?.(what)
    const when = during === null ? 'outside any turn' : `in a turn of run "${during.id}"`
    this.#verdict = this.#foreignAwait(`${what} ${when}`)
    this.#options.onForeign?.()
  }

  /** Stops the execution for good: its code cannot continue this log. */
  stop(error: unknown): void {
    this.#verdict ??= { state: 'stopped', error }
  }

  // ── called by the host

  /** Whether it has the turn. */
  get hasTurn(): boolean {
    return this.#turns.current === this
  }

  now(): number {
    return this.#time
  }
  random(): number {
    return this.#options.chance.random()
  }
  uuid(): string {
    return this.#options.chance.uuid()
  }
  /** Fails the run, even one that has just completed: the rest of the turn now runs outside it. */
  onEscaped(error: unknown): void {
    this.#turns.broken = true
    if (this.#verdict === null && this.#end?.failed !== true) this.#end = { failed: true, value: error }
  }
  onUnhandled(promise: object, reason: unknown): void {
    this.#unhandled ??= new Map()
    this.#unhandled.set(promise, reason)
    this.#options.onUnhandled?.(reason)
  }
  onHandled(promise: object): void {
    this.#unhandled?.delete(promise)
  }
  onTimer(api: string, site: () => string | undefined): () => void {
    if (!this.#timers.includes(api)) this.#timers.push(api)
    return () => {
      if (!this.isOver) this.#options.onTimerFired?.(api, site)
    }
  }

  // ── deliveries

  #begin(event: LogEvent): void {
    if (this.#began) this.#verdict = startedAgain(event)
    else if (event.type !== 'started')
      this.#verdict = { state: 'damaged', what: 'its first event is not "started"' }
    if (this.#verdict !== null) return
    this.#began = true
    this.#seq = event.seq
    this.#time = event.at
    new Promise((resolve) => resolve(this.#options.program(this.issue, this))).then(
      (output) => this.#finish(false, output),
      (error) => this.#finish(true, error),
    )
  }

  #finish(failed: boolean, value: unknown): void {
    if (this.#turns.current !== this) return this.foreign('the procedure ended')
    if (this.isOver || this.#outcome !== null) return
    this.#outcome = { failed, value }
    // Pending rejections are delivered first, so that the procedure can clean up.
    if (this.#unwritten > 0) this.#isEndDue = true
    else this.#endOrAwaitShields(this.#outcome)
  }

  /** Ends the run, or, while shields are open, closes everything else as at an end. */
  #endOrAwaitShields(outcome: Outcome): void {
    this.#isEndDue = false
    if (this.#openShields === 0 || this.#forced !== null) {
      this.#end = outcome
      return
    }
    this.#graceFrom ??= this.#time
    this.root.closed ??= { error: null, turn: this.#turn, refused: 0 }
    this.#refuseClosed()
  }

  #settle(event: LogEvent, pending: Pending<O>): void {
    this.#beginTurn(event)
    this.#issued.settle(pending)
    let value: unknown
    try {
      value = pending.operation.read(event)
    } catch (error) {
      if (!(error instanceof Unreadable)) return this.#reject(pending, error)
      this.#verdict = { state: 'unreadable', position: event.position, error }
      return
    }
    pending.resolve(value)
  }

  #reject(pending: Pending<O>, error: unknown): void {
    if (typeof error === 'object' && error !== null) {
      this.#failures ??= new WeakMap()
      this.#failures.set(error, pending.position)
    }
    pending.reject(error)
  }

  #cancel(event: LogEvent): void {
    this.#beginTurn(event)
    const { readCancel } = this.#options
    if (readCancel === undefined) return
    try {
      const { forced, error } = readCancel(event)
      this.#graceFrom ??= this.#time
      if (forced) this.#force(error)
      else if (this.root.closed === null) this.close([this.root], error)
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      this.#verdict = { state: 'unreadable', position: event.position, error }
    }
  }

  #beginTurn(event: LogEvent): void {
    this.#turn++
    this.#seq = event.seq
    if (event.at > this.#time) this.#time = event.at
  }

  // ── closed scopes

  #closingOf(scope: Scope): Closing | null {
    if (this.#forced !== null && outermostOf(scope) === this.root) return this.#forced
    return closingOf(scope)
  }

  /** Counts a refused operation. False: the limit is exceeded and it never settles; for a cancelled run this forces the end. */
  #countRefused(closing: Closing): boolean {
    const { error } = closing
    if (error === null || closing.refused === maxRefused) return false
    if (++closing.refused < maxRefused) return true
    if (closing === this.root.closed) this.#forcing = error
    return false
  }

  #refuse(pending: Pending<O>): void {
    this.#refusals ??= new Refusals()
    this.#refusals.add(pending)
  }

  #refuseClosed(): void {
    for (const pending of this.#issued.pending.values())
      if (this.#closingOf(pending.scope) !== null) this.#refuse(pending)
    this.#issued.forgetClosed()
  }

  /** The number of due turns that no event begins. */
  get #unwritten(): number {
    return this.#refusals === null ? 0 : this.#refusals.size + (this.#forcing === null ? 0 : 1)
  }

  #deliverUnwritten(): void {
    const forcing = this.#forcing
    this.#turn++
    this.#forcing = null
    if (forcing !== null) this.#force(forcing)
    else this.#rejectClosed((this.#refusals as Refusals<O>).takeNext())
  }

  #rejectClosed(pending: Pending<O>): void {
    if (pending.position !== noPosition) {
      this.#issued.close(pending)
      this.#closed ??= []
      this.#closed.push(pending)
      if (pending.operation.readLate !== undefined) {
        this.#late ??= new LateResults()
        this.#late.add(pending)
      }
    }
    const error = this.#closingOf(pending.scope)?.error
    if (error) pending.reject(error())
  }

  /** Abandons the procedure: its pending operations never settle. */
  #force(error: () => unknown): void {
    if (this.#forced !== null) return
    this.#forced = { error: null, turn: this.#turn, refused: 0 }
    this.#refuseClosed()
    if (this.#outcome !== null) this.#end = this.#outcome
    else if (this.#onForced !== null) this.#onForced(error())
    else this.#finish(true, error())
  }

  // ── late results

  get #hasShields(): boolean {
    return this.#openShields > 0 && this.#forced === null
  }

  get #isQuietDue(): boolean {
    return this.#late?.isDue(this.#hasShields) === true
  }

  /** Calls back in a turn of its own: before the first event that is not late, so that live and replay agree. */
  #callQuiet(): void {
    const waiter = this.#late?.takeDue(this.#hasShields)
    this.#turn++
    // Nothing is left that a forced end would break.
    if (waiter?.awaitsShields === true) this.#graceFrom = null
    waiter?.callback()
  }

  /** Reads a late result. False: its bytes cannot be decoded. */
  #readLate(event: LogEvent, late: LateResults<O>): boolean {
    try {
      late.read(event)
      return true
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      this.#verdict = { state: 'unreadable', position: event.position, error }
      return false
    }
  }

  /** Reads a result that the log has behind the end: no turn delivers it. */
  #readBehindEnd(event: LogEvent): void {
    const pending = this.#issued.recognise(event)
    if (pending?.operation.readLate === undefined) return
    const late = new LateResults<O>()
    late.add(pending)
    this.#readLate(event, late)
  }

  // ── verdicts

  /** Whether the run has ended or must not continue; further calls have no effect. */
  get isOver(): boolean {
    return this.#end !== null || this.#verdict !== null
  }

  #diverge(event: LogEvent, asked: Pending<O> | undefined): void {
    this.#verdict = differ(event, event.position, asked === undefined ? 'nothing' : describePending(asked))
  }

  /** Handles a log that ends although the procedure continues and asks for more than was recorded. */
  #goesOn(ended: LogEvent): void {
    const [next] = this.#issued.pending.values()
    if (next === undefined)
      this.#verdict = this.#foreignAwait('it has not ended and has no pending operation')
    else this.#verdict = differ(ended, next.position, describePending(next))
  }

  /** Returns the end if the rest of the log agrees. */
  #endOf(failed: boolean, value: unknown): Completed<O> | Failed<O> | Nondeterminism | DamagedLog {
    for (; this.#at < this.#events.length; this.#at++) {
      const event = this.#events[this.#at] as LogEvent
      if (event.type === 'started') return startedAgain(event)
      const position = event.kind === null ? this.#issued.nextPosition : event.position
      if (!this.#mayFollow(event, failed))
        return failed
          ? { ...differ(event, position, 'its failure'), thrown: { error: value } }
          : differ(event, position, 'its completion')
      this.#readBehindEnd(event)
    }
    const left = [...this.#issued.pending.values()].filter(({ operation }) => operation.isPassive !== true)
    const closed = this.#closed ?? none
    if (!failed) return { state: 'completed', output: value, left, closed }
    return {
      state: 'failed',
      error: value,
      position: this.#failures?.get(value as object) ?? null,
      left,
      closed,
    }
  }

  /** Whether an event may follow the end: the same outcome, or late events. Operations of the last turn were never started. */
  #mayFollow(event: LogEvent, failed: boolean): boolean {
    if (event.type === 'ended') return event.failed === failed
    if (event.kind === null) return true
    return this.#issued.recognise(event) === null
      ? this.#issued.isSettled(event.position)
      : event.turn < this.#turn
  }

  #foreignAwait(what: string): ForeignAwait {
    const timers = this.#timers.length === 0 ? '' : `; it used ${this.#timers.join(', ')}`
    const position = this.#issued.nextPosition - 1
    const advice = [...(this.advice ?? none)].map((one) => `. ${one}`).join('')
    return { state: 'foreign-await', after: this.#lastIssued, position, what: what + timers + advice }
  }
}

const none: readonly never[] = []

function differ(event: LogEvent, position: number, asked: string): Nondeterminism {
  return { state: 'nondeterminism', position, recorded: describeEvent(event), asked }
}

function startedAgain({ seq }: LogEvent): DamagedLog {
  return { state: 'damaged', what: `its event ${seq} is a second "started" event` }
}
