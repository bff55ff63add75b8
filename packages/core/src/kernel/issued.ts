import type { LogEvent } from '../events/event.ts'
import { isAbout } from './identity.ts'
import type { Operation, Pending } from './operation.ts'

/** The issued operations: their positions, and which of them an event is about. */
export class IssuedOperations<O extends Operation> {
  readonly #pending = new Map<number, Pending<O>>()
  /** Closed without an event; an event may still swap positions with them. Null in most runs. */
  #replaceable: Pending<O>[] | null = null
  #nextPosition: number
  /** Decisions have listed all operations before this position. The operations of one turn, which may swap positions, are listed together. */
  #listedUpTo: number

  /** `firstPosition`: the position of the first operation. */
  constructor(firstPosition: number) {
    this.#nextPosition = firstPosition
    this.#listedUpTo = firstPosition
  }

  /** The operations without a result, by position. */
  get pending(): ReadonlyMap<number, Pending<O>> {
    return this.#pending
  }

  /** Whether nothing is pending but passive operations. */
  get isIdle(): boolean {
    for (const { operation } of this.#pending.values()) if (operation.isPassive !== true) return false
    return true
  }

  /** The position of the next operation. */
  get nextPosition(): number {
    return this.#nextPosition
  }

  takePosition(): number {
    return this.#nextPosition++
  }

  add(pending: Pending<O>): void {
    this.#pending.set(pending.position, pending)
  }

  settle({ position }: Pending<O>): void {
    this.#pending.delete(position)
  }

  /** Closes an operation without an event. */
  close(pending: Pending<O>): void {
    this.#pending.delete(pending.position)
    this.#replaceable ??= []
    this.#replaceable.push(pending)
  }

  /** Forgets closed operations of turns that have no pending one: their events swap no positions. */
  forgetClosed(): void {
    if (this.#replaceable === null) return
    const turns = new Set([...this.#pending.values()].map(({ turn }) => turn))
    this.#replaceable = this.#replaceable.filter(({ turn }) => turns.has(turn))
  }

  /** Lists the pending operations that were issued since the last call. */
  listNew(): readonly Pending<O>[] {
    const issued: Pending<O>[] = []
    for (; this.#listedUpTo < this.#nextPosition; this.#listedUpTo++) {
      const pending = this.#pending.get(this.#listedUpTo)
      if (pending !== undefined) issued.push(pending)
    }
    return issued
  }

  /** Whether an event may concern an operation of a closed scope; the procedure no longer waits for it. */
  isSettled(position: number): boolean {
    return position < this.#nextPosition && !this.#pending.has(position)
  }

  /** Whether an event concerns an operation that is no longer pending. */
  isLate(event: LogEvent): boolean {
    return event.kind !== null && this.recognise(event) === null && this.isSettled(event.position)
  }

  /**
   * Finds the operation of an event: the one at its position, if turn, kind, name and nth match. Otherwise a matching one
   * of the same turn, and the two swap positions. Otherwise none: the code has changed.
   */
  recognise(event: LogEvent): Pending<O> | null {
    const closed = this.#replaceable ?? none
    const there = this.#pending.get(event.position) ?? closed.find((one) => one.position === event.position)
    if (there === undefined) return null
    if (isAbout(event, there)) return this.#pendingOrNull(there)
    if (there.turn !== event.turn) return null
    for (const others of [this.#pending.values(), closed])
      for (const other of others)
        if (isAbout(event, other)) {
          this.#swap(there, other)
          return this.#pendingOrNull(other)
        }
    return null
  }

  #pendingOrNull(one: Pending<O>): Pending<O> | null {
    return this.#pending.get(one.position) === one ? one : null
  }

  #swap(a: Pending<O>, b: Pending<O>): void {
    const isPending = [a, b].filter((one) => this.#pending.delete(one.position))
    ;[a.position, b.position] = [b.position, a.position]
    for (const one of isPending) this.#pending.set(one.position, one)
  }
}

const none: readonly never[] = []
