import type { LogEvent } from '../events/event.ts'
import type {
  Completed,
  DamagedLog,
  Decision,
  Failed,
  ForeignAwait,
  Nondeterminism,
  Verdict,
} from './decision.ts'
import { describeEvent, describePending, inOrderOfIdentity, isAbout, Ordinals } from './identity.ts'
import { type Operation, type Pending, type Program, Unreadable } from './operation.ts'
import type { TurnOwner, Turns } from './turns.ts'

/** What an execution is given by the run it belongs to. */
export interface ExecutionOptions<O extends Operation = Operation> {
  readonly id: string
  readonly program: Program<O>
  readonly turns: Turns
  readonly determinism: TurnOwner['determinism']
  readonly chance: { random(): number; uuid(): string }
  /** What an operation still pending is rejected with when the run is cancelled. */
  readonly cancelError?: (event: LogEvent) => unknown
  /** Called once, when the procedure is first seen to move outside a turn. */
  readonly onForeign?: () => void
  /** Called when something of its context is used outside a turn after it has ended. */
  readonly onLate?: (what: string) => void
  /** Called with each rejection that nothing handles, when it is found; a handler may still come. */
  readonly onUnhandled?: (reason: unknown) => void
  /** Called when a timer of the host fires that was set in one of its turns, unless it is over by then. */
  readonly onTimerFired?: (api: string, site: () => string | undefined) => void
  /** Called in every issue that takes a position: for finding the call site of one of them. */
  readonly onIssue?: (position: number) => void
}

/**
 * The kernel: a procedure driven by its log. There is no replay mode and no live mode; a live run is the
 * replay of a log that is still being written.
 *
 * An operation takes the next position in the caller's own call and becomes a plain pending promise. One
 * event settles at most one of them, and begins a turn; the caller (host/drain) lets every queue run empty
 * before it delivers the next. That makes `Promise.race` sound: which branch won is the order of two events.
 */
export class Execution<O extends Operation = Operation> implements TurnOwner {
  readonly id: string
  readonly determinism: TurnOwner['determinism']
  readonly #options: ExecutionOptions<O>
  readonly #turns: Turns

  #events: LogEvent[] = []
  #at = 0
  /** Settlements without an event of their own, each in a turn of its own before the next event. */
  readonly #unwritten: (() => void)[] = []

  /** Settling events delivered so far: the ordinal of the present turn. */
  #turn = 0
  #time = 0
  #began = false

  #nextPosition = 0
  readonly #ordinals = new Ordinals()
  readonly #pending = new Map<number, Pending<O>>()
  /** A decision has told of all before this position. Operations of one turn, which may change places, are told of at once. */
  #toldUpTo = 0
  #lastIssued = 'the start'

  #end: { readonly failed: boolean; readonly value: unknown } | null = null
  #verdict: Verdict | null = null
  readonly #timers: string[] = []
  /** The position of each operation that has failed, by the error its promise was rejected with. Null in most runs. */
  #failures: WeakMap<object, number> | null = null
  /** Null in most runs: an empty map for each would be a part of what it costs to keep one in memory. */
  #unhandled: Map<object, unknown> | null = null

  constructor(options: ExecutionOptions<O>) {
    this.#options = options
    this.id = options.id
    this.determinism = options.determinism
    this.#turns = options.turns
  }

  // ── driven by the drain

  /** Adds events of the log, in order; they are delivered one a turn. The first of all is `started`. */
  enqueue(events: readonly LogEvent[]): void {
    if (this.#at === this.#events.length) {
      this.#events = [...events]
      this.#at = 0
    } else for (const event of events) this.#events.push(event)
  }

  /** How many deliveries are known to lie ahead. */
  get outstanding(): number {
    return this.isOver ? 0 : this.#events.length - this.#at + this.#unwritten.length
  }

  /** Delivers what comes next and returns; the turn lasts until the queues are empty. */
  deliverNext(): void {
    const unwritten = this.#unwritten.shift()
    if (unwritten !== undefined) {
      this.#turn++
      return unwritten()
    }
    while (this.#at < this.#events.length) {
      const event = this.#events[this.#at++] as LogEvent
      if (event.type === 'started' || !this.#began) return this.#begin(event)
      if (event.type === 'cancelled') return this.#cancel(event)
      if (event.type === 'ended') return this.#goesOn(event)
      if (event.type === 'accepted') continue
      const pending = this.#recognise(event)
      if (pending === null && this.#isSettled(event.position)) continue
      if (pending === null) return this.#diverge(event, this.#pending.get(event.position))
      if (event.type === 'settled') return this.#settle(event, pending)
      // All others settle nothing and are invisible: they begin no turn and move no clock.
    }
  }

  // ── read by the run

  /** What the run wants. To be asked when everything is delivered and drained; tells of each operation once. */
  decide(): Decision<O> {
    if (this.#end !== null) return this.#judgeEnd(this.#end.failed, this.#end.value)
    if (this.#verdict !== null) return this.#verdict
    if (this.#pending.size === 0) return this.#foreignAwait('it waits, but for no operation')
    const issued: Pending<O>[] = []
    for (; this.#toldUpTo < this.#nextPosition; this.#toldUpTo++) {
      const pending = this.#pending.get(this.#toldUpTo)
      if (pending !== undefined) issued.push(pending)
    }
    return { state: 'waiting', issued }
  }

  /** Whether the decision needs a moment of grace: what it rests on may yet move outside a turn. */
  get needsGrace(): boolean {
    if (this.#end !== null) return false
    return this.#verdict === null ? this.#pending.size === 0 : this.#verdict.state === 'nondeterminism'
  }

  /** The ordinal of the present turn. */
  get turn(): number {
    return this.#turn
  }

  /** The operations without a result, by position. */
  get pending(): ReadonlyMap<number, Pending<O>> {
    return this.#pending
  }

  /** Rejections that nobody has handled, for the report at the end. They never alter the outcome. */
  get unhandled(): readonly unknown[] {
    return [...(this.#unhandled?.values() ?? [])]
  }

  // ── called by the procedure

  /**
   * Issues an operation. Synchronous up to the position, so that the order of the calls is the order of the
   * positions. Outside the run's own turn it returns a promise that never settles (a throw could be
   * caught and lived with) and the run is found to await something foreign.
   */
  readonly issue = (operation: O): Promise<unknown> => {
    if (this.#turns.current !== this) {
      this.foreign(`${operation.kind} "${operation.name}" was issued`)
      return new Promise(() => {})
    }
    const position = this.#nextPosition++
    const turn = this.#turn
    const nth = this.#ordinals.next(turn, operation)
    this.#lastIssued = operation.name
    this.#options.onIssue?.(position)
    return new Promise((resolve, reject) => {
      const pending = { position, turn, nth, operation, issuedAt: this.#time, resolve, reject }
      this.#pending.set(position, pending)
    })
  }

  /** Notes that the procedure used something of its context outside its own turn. */
  foreign(what: string): void {
    const during = this.#turns.current
    if (during === this || this.#verdict?.state === 'foreign-await') return
    if (this.#end !== null) return this.#options.onLate?.(what)
    const when = during === null ? 'outside any turn' : `in a turn of run "${during.id}"`
    this.#verdict = this.#foreignAwait(`${what} ${when}`)
    this.#options.onForeign?.()
  }

  // ── told by the host

  /** Whether this is its own turn. */
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
  /** What the turn had still to do runs on without it, so the run fails: also if it has just completed. */
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
      this.#verdict = { state: 'damaged', what: 'its first event does not start it' }
    if (this.#verdict !== null) return
    this.#began = true
    this.#time = event.at
    new Promise((resolve) => resolve(this.#options.program(this.issue))).then(
      (output) => this.#finish(false, output),
      (error) => this.#finish(true, error),
    )
  }

  #finish(failed: boolean, value: unknown): void {
    if (this.#turns.current !== this) return this.foreign('the procedure ended')
    if (!this.isOver) this.#end = { failed, value }
  }

  #settle(event: LogEvent, pending: Pending<O>): void {
    this.#beginTurn(event)
    this.#pending.delete(pending.position)
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

  /** Each operation still pending is rejected in a turn of its own. No release writes this event yet. */
  #cancel(event: LogEvent): void {
    this.#beginTurn(event)
    const { cancelError } = this.#options
    if (cancelError === undefined) return
    for (const pending of [...this.#pending.values()].sort(inOrderOfIdentity))
      this.#unwritten.push(() => {
        this.#pending.delete(pending.position)
        pending.reject(cancelError(event))
      })
  }

  #beginTurn(event: LogEvent): void {
    this.#turn++
    if (event.at > this.#time) this.#time = event.at
  }

  // ── identity

  /** An operation that a cancel has rejected may still be spoken of; nobody waits to hear. */
  #isSettled(position: number): boolean {
    return position < this.#nextPosition && !this.#pending.has(position)
  }

  /**
   * The operation an event is about: the one at its position, if turn, kind, name and nth agree. Otherwise
   * another of the same turn that has them, and the two change places. Otherwise none: the code has changed.
   */
  #recognise(event: LogEvent): Pending<O> | null {
    const there = this.#pending.get(event.position)
    if (there === undefined) return null
    if (isAbout(event, there)) return there
    if (there.turn !== event.turn) return null
    for (const other of this.#pending.values())
      if (isAbout(event, other)) {
        there.position = other.position
        other.position = event.position
        this.#pending.set(there.position, there)
        this.#pending.set(other.position, other)
        return other
      }
    return null
  }

  // ── verdicts

  /** It has ended, or must not go on: nothing that happens to it counts any more. */
  get isOver(): boolean {
    return this.#end !== null || this.#verdict !== null
  }

  #diverge(event: LogEvent, asked: Pending<O> | undefined): void {
    this.#verdict = differ(event, event.position, asked === undefined ? 'nothing' : describePending(asked))
  }

  /** The log has an end and the procedure none: where it goes on, it asks for more than was recorded. */
  #goesOn(ended: LogEvent): void {
    const [next] = this.#pending.values()
    if (next === undefined) this.#verdict = this.#foreignAwait('it has not ended, and waits for no operation')
    else this.#verdict = differ(ended, next.position, describePending(next))
  }

  /** An end counts only if what the log has behind it agrees. */
  #judgeEnd(failed: boolean, value: unknown): Completed<O> | Failed<O> | Nondeterminism | DamagedLog {
    for (; this.#at < this.#events.length; this.#at++) {
      const event = this.#events[this.#at] as LogEvent
      if (event.type === 'started') return startedAgain(event)
      const position = event.kind === null ? this.#nextPosition : event.position
      if (!this.#mayFollow(event, failed))
        return failed
          ? { ...differ(event, position, 'its failure'), thrown: { error: value } }
          : differ(event, position, 'its completion')
    }
    const left = [...this.#pending.values()]
    if (!failed) return { state: 'completed', output: value, left }
    return { state: 'failed', error: value, position: this.#failures?.get(value as object) ?? null, left }
  }

  /** The same outcome, and what came too late. The operations of the last turn were never started. */
  #mayFollow(event: LogEvent, failed: boolean): boolean {
    if (event.type === 'ended') return event.failed === failed
    if (event.kind === null || this.#isSettled(event.position)) return true
    return event.turn < this.#turn && this.#recognise(event) !== null
  }

  #foreignAwait(what: string): ForeignAwait {
    const timers = this.#timers.length === 0 ? '' : `; it used ${this.#timers.join(', ')}`
    const position = this.#nextPosition - 1
    return { state: 'foreign-await', after: this.#lastIssued, position, what: what + timers }
  }
}

function differ(event: LogEvent, position: number, asked: string): Nondeterminism {
  return { state: 'nondeterminism', position, recorded: describeEvent(event), asked }
}

function startedAgain({ seq }: LogEvent): DamagedLog {
  return { state: 'damaged', what: `its event ${seq} starts it a second time` }
}
