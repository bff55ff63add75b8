import { type LogEvent, noPosition } from '../events/event.ts'
import { ClosedScopes } from './closing.ts'
import type {
  Completed,
  DamagedLog,
  Decision,
  Failed,
  ForeignAwait,
  Nondeterminism,
  Verdict,
} from './decision.ts'
import { checkBehindEnd, differ, type Outcome, startedAgain } from './end-check.ts'
import { describePending, Ordinals } from './identity.ts'
import { IssuedOperations } from './issued.ts'
import { LateResults } from './late.ts'
import { type Operation, type Pending, type Program, type Scopes, Unreadable } from './operation.ts'
import type { Closing, Scope } from './scope.ts'
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

  /** The result or error of the procedure. The end waits for open shields and for pending rejections. */
  #outcome: Outcome | null = null
  /** Set if the run ends as soon as the pending rejections are delivered. */
  #isEndDue = false
  #graceFrom: number | null = null
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
  readonly #closing: ClosedScopes<O>
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
    this.#closing = new ClosedScopes(this.#issued)
  }

  get root(): Scope {
    return this.#closing.root
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
    return known + this.#closing.dueTurns + (this.#isEndDue ? 1 : 0) + (isQuietDue ? 1 : 0)
  }

  /** Makes the next delivery and returns; the turn lasts until the queues are drained. */
  deliverNext(): void {
    if (this.#closing.dueTurns > 0) return this.#deliverUnwritten()
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
    if (this.#end !== null) return this.#endOf(this.#end)
    if (this.#verdict !== null) return this.#verdict
    if (this.#issued.isIdle) return this.#foreignAwait('it has no pending operation')
    return { state: 'waiting', issued: this.#issued.listNew(), closed: this.#closing.takeClosed() }
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
    const closing = this.#closing.of(scope)
    const isRefused = closing !== null && closing.turn < this.#turn
    if (isRefused && !this.#closing.countRefused(closing)) return new Promise(() => {})
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
    if (closing !== null) this.#closing.refuse(pending)
    return promise
  }

  close(scopes: readonly Scope[], error: () => unknown): void {
    if (this.#turns.current !== this) return this.foreign('a race or a map ended')
    this.#closing.close(scopes, error, this.#turn)
  }

  adopt(promise: Promise<unknown>, from: Scope, to: Scope): 'adopted' | 'elsewhere' | 'none' {
    for (const some of [this.#issued.pending.values(), this.#closing.refused])
      for (const pending of some) {
        if (pending.promise !== promise) continue
        if (pending.scope !== from) return 'elsewhere'
        pending.scope = to
        return 'adopted'
      }
    return 'none'
  }

  refusalOf(scope: Scope): Closing | null {
    return this.#closing.before(scope, this.#turn)
  }

  openShield(parent: Scope): Scope {
    if (this.#turns.current !== this) this.foreign('a shield was begun')
    return this.#closing.openShield(parent)
  }

  closeShield(scope: Scope): void {
    if (this.#turns.current !== this) return this.foreign('a shield ended')
    this.#closing.closeShield(scope)
    if (this.#outcome === null || this.#closing.hasOpenShields || this.isOver) return
    if (this.#closing.dueTurns > 0) this.#isEndDue = true
    else this.#end = this.#outcome
  }

  onForced(callback: (error: unknown) => void): void {
    this.#onForced = callback
  }

  get isRejecting(): boolean {
    return this.#closing.dueTurns > 0
  }

  get isUnsettled(): boolean {
    if (this.#closing.hasOpenShields || this.#late?.isEmpty === false) return true
    for (const { operation } of this.#issued.pending.values())
      if (operation.readLate !== undefined) return true
    return false
  }

  get undoable(): readonly Promise<unknown>[] {
    const pending = [...this.#issued.pending.values()]
    return pending.flatMap(({ operation, promise }) => (operation.readLate && promise) || [])
  }

  whenQuiet(awaitsShields: boolean, callback: () => void): void {
    this.#late ??= new LateResults()
    this.#late.await({ awaitsShields, callback })
    if (awaitsShields && this.#closing.awaitsShields) this.#graceFrom ??= this.#time
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
    if (this.#closing.dueTurns > 0) this.#isEndDue = true
    else this.#endOrAwaitShields(this.#outcome)
  }

  /** Ends the run, or, while shields are open, closes everything else as at an end. */
  #endOrAwaitShields(outcome: Outcome): void {
    this.#isEndDue = false
    if (!this.#closing.awaitsShields) {
      this.#end = outcome
      return
    }
    this.#graceFrom ??= this.#time
    this.#closing.close([this.root], null, this.#turn)
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

  // ── turns that no event begins

  #deliverUnwritten(): void {
    this.#turn++
    const forcing = this.#closing.takeForcing()
    if (forcing !== null) return this.#force(forcing)
    const pending = this.#closing.rejectNext()
    if (pending.position === noPosition || pending.operation.readLate === undefined) return
    this.#late ??= new LateResults()
    this.#late.add(pending)
  }

  /** Abandons the procedure: its pending operations never settle. */
  #force(error: () => unknown): void {
    if (!this.#closing.force(this.#turn)) return
    if (this.#outcome !== null) this.#end = this.#outcome
    else if (this.#onForced !== null) this.#onForced(error())
    else this.#finish(true, error())
  }

  // ── late results

  get #isQuietDue(): boolean {
    return this.#late?.isDue(this.#closing.awaitsShields) === true
  }

  /** Calls back in a turn of its own: before the first event that is not late, so that live and replay agree. */
  #callQuiet(): void {
    const waiter = this.#late?.takeDue(this.#closing.awaitsShields)
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
  #endOf(end: Outcome): Completed<O> | Failed<O> | Nondeterminism | DamagedLog {
    for (; this.#at < this.#events.length; this.#at++) {
      const event = this.#events[this.#at] as LogEvent
      const disagreement = checkBehindEnd(event, end, this.#issued, this.#turn)
      if (disagreement !== null) return disagreement
      this.#readBehindEnd(event)
    }
    const left = [...this.#issued.pending.values()].filter(({ operation }) => operation.isPassive !== true)
    const { closed } = this.#closing
    if (!end.failed) return { state: 'completed', output: end.value, left, closed }
    const position = this.#failures?.get(end.value as object) ?? null
    return { state: 'failed', error: end.value, position, left, closed }
  }

  #foreignAwait(what: string): ForeignAwait {
    const timers = this.#timers.length === 0 ? '' : `; it used ${this.#timers.join(', ')}`
    const position = this.#issued.nextPosition - 1
    const advice = [...(this.advice ?? none)].map((one) => `. ${one}`).join('')
    return { state: 'foreign-await', after: this.#lastIssued, position, what: what + timers + advice }
  }
}

const none: readonly never[] = []
