import type { LogEvent, OperationKind } from '../events/event.ts'
import type { Decision, ForeignAwait, Nondeterminism } from './decision.ts'
import { type Operation, type Pending, type Program, Unreadable } from './operation.ts'
import type { TurnOwner, Turns } from './turns.ts'

/** What an execution is given by the run it belongs to. */
export interface ExecutionOptions {
  readonly id: string
  readonly program: Program
  readonly turns: Turns
  readonly determinism: TurnOwner['determinism']
  readonly chance: { random(): number; uuid(): string }
  /** What an operation still pending is rejected with when the run is cancelled. */
  readonly cancelError?: (event: LogEvent) => unknown
  /** Called once, when the procedure is first seen to move outside a turn. */
  readonly onForeign?: () => void
  /** Called in every issue, before anything else: for finding the call site of one position. */
  readonly onIssue?: (position: number) => void
}

/** Issued operations that were settled by the log before anybody asked are forgotten past this many. */
const issuedKept = 1024

/**
 * The kernel: a procedure driven by its log. There is no replay mode and no live mode; a live run is the
 * replay of a log that is still being written.
 *
 * An operation takes the next position in the caller's own call and becomes a plain pending promise. One
 * event settles at most one of them, and begins a turn; the caller (host/drain) lets every queue run empty
 * before it delivers the next. That makes `Promise.race` sound: which branch won is the order of two events.
 */
export class Execution implements TurnOwner {
  readonly id: string
  readonly determinism: TurnOwner['determinism']
  readonly #options: ExecutionOptions
  readonly #turns: Turns

  /** Settling events delivered so far: the ordinal of the present turn. */
  #turn = 0
  #time = 0
  #began = false
  #nextPosition = 0
  readonly #pending = new Map<number, Pending>()
  #issued: Pending[] = []

  #events: LogEvent[] = []
  #at = 0
  /** Settlements without an event of their own, each in a turn of its own before the next event. */
  readonly #unwritten: (() => void)[] = []

  /** How many operations of a kind and name this turn has issued; built only from the second one on. */
  #counts: Map<string, number> | null = null
  #countedTurn = -1
  #firstOfTurn: Operation | null = null

  #end: { readonly failed: boolean; readonly value: unknown } | null = null
  #verdict: Nondeterminism | ForeignAwait | { state: 'unreadable'; position: number; error: Error } | null = null
  #lastOperation = 'the start'
  readonly #timers = new Set<string>()
  readonly #unhandled = new Map<object, unknown>()

  constructor(options: ExecutionOptions) {
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
    return this.#over ? 0 : this.#events.length - this.#at + this.#unwritten.length
  }

  /** Delivers what comes next and returns; the turn lasts until the queues are empty. */
  deliverNext(): void {
    const unwritten = this.#unwritten.shift()
    if (unwritten !== undefined) {
      this.#turn++
      return unwritten()
    }
    // What settles nothing is invisible: it begins no turn and moves no clock.
    while (this.#at < this.#events.length) {
      const event = this.#events[this.#at++] as LogEvent
      switch (event.type) {
        case 'started':
          return this.#begin(event)
        case 'settled':
          return this.#settle(event)
        case 'cancelled':
          return this.#cancel(event)
        case 'ended':
          this.#verdict = this.#differs(event, 'to go on')
          return
        default:
          if (this.#recognise(event) === null) return
      }
    }
  }

  // ── read by the run

  /** What the run wants. To be asked when everything is delivered and drained; hands out what was issued once. */
  decide(): Decision {
    if (this.#end !== null) return this.#decideEnd(this.#end)
    if (this.#verdict !== null) return this.#verdict
    if (this.#pending.size === 0) return this.#foreignAwait('it waits, but for no operation')
    this.#forgetSettled()
    const issued = this.#issued
    this.#issued = []
    return { state: 'waiting', issued }
  }

  /** Whether the decision needs a moment of grace: what it rests on may yet move outside a turn. */
  get needsGrace(): boolean {
    if (this.#end !== null) return false
    return this.#verdict === null ? this.#pending.size === 0 : this.#verdict.state === 'nondeterminism'
  }

  /** The operations without a result, by position. */
  get pending(): ReadonlyMap<number, Pending> {
    return this.#pending
  }

  /** Rejections that nobody has handled, for the report at the end. They never alter the outcome. */
  get unhandled(): readonly unknown[] {
    return [...this.#unhandled.values()]
  }

  // ── called by the procedure

  /**
   * Issues an operation. Synchronous up to the position, so that the order of the calls is the order of the
   * positions. Outside the run's own turn it returns a promise that never settles (a throw could be
   * caught and lived with) and the run is found to await something foreign.
   */
  readonly issue = (operation: Operation): Promise<unknown> => {
    if (this.#turns.current !== this || this.#over) {
      this.foreign(`${operation.kind} "${operation.name}" was issued`)
      return new Promise(() => {})
    }
    const nth = this.#count(operation)
    const position = this.#nextPosition++
    this.#options.onIssue?.(position)
    this.#lastOperation = operation.name
    return new Promise((resolve, reject) => {
      const pending = { position, turn: this.#turn, nth, operation, issuedAt: this.#time, resolve, reject }
      this.#pending.set(position, pending)
      this.#issued.push(pending)
      if (this.#issued.length > issuedKept && this.#issued.length > 2 * this.#pending.size) this.#forgetSettled()
    })
  }

  /** Notes that the procedure used something of its context outside its own turn. */
  foreign(what: string): void {
    if (this.#end !== null || this.#turns.current === this) return
    const during = this.#turns.current
    const when = during === null ? 'outside any turn' : `in a turn of run "${during.id}"`
    if (this.#verdict?.state === 'foreign-await') return
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
  /** The rest of the turn's queues ran on after the throw, so the continuation cannot be trusted: the run fails. */
  onEscaped(error: unknown): void {
    if (!this.#over) this.#end = { failed: true, value: error }
  }
  onUnhandled(promise: object, reason: unknown): void {
    this.#unhandled.set(promise, reason)
  }
  onHandled(promise: object): void {
    this.#unhandled.delete(promise)
  }
  onTimer(api: string): void {
    this.#timers.add(api)
  }

  // ── deliveries

  #begin(event: LogEvent): void {
    if (this.#began) throw new Error(`run "${this.id}" was begun twice`)
    this.#began = true
    this.#time = event.at
    new Promise((resolve) => resolve(this.#options.program(this.issue))).then(
      (output) => this.#finish(false, output),
      (error) => this.#finish(true, error),
    )
  }

  #finish(failed: boolean, value: unknown): void {
    if (this.#turns.current !== this) return this.foreign('the procedure ended')
    if (!this.#over) this.#end = { failed, value }
  }

  #settle(event: LogEvent): void {
    const pending = this.#recognise(event)
    if (pending === null) return
    this.#pending.delete(event.position)
    this.#beginTurn(event)
    let value: unknown
    try {
      value = pending.operation.read(event)
    } catch (error) {
      if (!(error instanceof Unreadable)) return pending.reject(error)
      this.#verdict = { state: 'unreadable', position: event.position, error }
      return
    }
    pending.resolve(value)
  }

  /** Each operation still pending is rejected in a turn of its own, in the order of the positions. */
  #cancel(event: LogEvent): void {
    this.#beginTurn(event)
    const error = this.#options.cancelError
    if (error === undefined) return
    for (const position of [...this.#pending.keys()].sort((a, b) => a - b))
      this.#unwritten.push(() => {
        const pending = this.#pending.get(position)
        this.#pending.delete(position)
        pending?.reject(error(event))
      })
  }

  #beginTurn(event: LogEvent): void {
    this.#turn++
    if (event.at > this.#time) this.#time = event.at
  }

  // ── identity

  /**
   * The operation an event is about: the one at its position, if turn, kind, name and nth agree. Otherwise
   * another of the same turn that has them, and the two change places. Otherwise the code has changed.
   */
  #recognise(event: LogEvent): Pending | null {
    const there = this.#pending.get(event.position)
    if (there !== undefined && isAbout(event, there)) return there
    if (there !== undefined && there.turn === event.turn)
      for (const other of this.#pending.values())
        if (isAbout(event, other)) {
          this.#pending.set(other.position, there)
          this.#pending.set(event.position, other)
          there.position = other.position
          other.position = event.position
          return other
        }
    this.#verdict = this.#differs(event, there === undefined ? 'nothing' : describe(there.operation.kind, there.operation.name, there.turn))
    return null
  }

  #forgetSettled(): void {
    this.#issued = this.#issued.filter((pending) => this.#pending.get(pending.position) === pending)
  }

  #count({ kind, name }: Operation): number {
    if (this.#countedTurn !== this.#turn) {
      this.#countedTurn = this.#turn
      this.#counts = null
      this.#firstOfTurn = { kind, name, read: neverRead }
      return 0
    }
    const first = this.#firstOfTurn as Operation
    this.#counts ??= new Map([[`${first.kind} ${first.name}`, 0]])
    const key = `${kind} ${name}`
    const nth = (this.#counts.get(key) ?? -1) + 1
    this.#counts.set(key, nth)
    return nth
  }

  // ── verdicts

  get #over(): boolean {
    return this.#end !== null || this.#verdict !== null
  }

  /**
   * An end counts only if the rest of the log agrees with it: results of positions that were issued may
   * follow (they came too late), nothing else.
   */
  #decideEnd(end: { readonly failed: boolean; readonly value: unknown }): Decision {
    const outcome = end.failed ? 'to fail' : 'to complete'
    for (; this.#at < this.#events.length; this.#at++) {
      const event = this.#events[this.#at] as LogEvent
      const agrees = event.type === 'ended' ? event.failed === end.failed : event.position < this.#nextPosition
      if (!agrees) return this.#differs(event, outcome)
    }
    const left = [...this.#pending.values()]
    return end.failed ? { state: 'failed', error: end.value, left } : { state: 'completed', output: end.value, left }
  }

  #differs(event: LogEvent, asked: string): Nondeterminism {
    const recorded =
      event.kind === null
        ? `${event.type}${event.failed ? ' (failed)' : ''}`
        : describe(event.kind, event.name, event.turn)
    return { state: 'nondeterminism', position: event.position, recorded, asked }
  }

  #foreignAwait(what: string): ForeignAwait {
    const timers = this.#timers.size === 0 ? '' : `; it used ${[...this.#timers].join(', ')}`
    return { state: 'foreign-await', after: this.#lastOperation, what: what + timers }
  }
}

function isAbout(event: LogEvent, { turn, nth, operation }: Pending): boolean {
  return operation.name === event.name && turn === event.turn && nth === event.nth && operation.kind === event.kind
}

function describe(kind: OperationKind, name: string, turn: number): string {
  return `${kind} "${name}" in turn ${turn}`
}

function neverRead(): never {
  throw new Error('this operation only stands for its name')
}
