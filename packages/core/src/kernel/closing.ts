import { noPosition } from '../events/event.ts'
import type { IssuedOperations } from './issued.ts'
import type { Operation, Pending } from './operation.ts'
import { Refusals } from './refusals.ts'
import { type Closing, closingOf, createScope, maxRefused, outermostOf, type Scope } from './scope.ts'

/**
 * The closed scopes of an execution, and what is settled without an event because of them: pending operations of a closed
 * scope, each rejected in a turn of its own before the next event, and the end of a run whose grace period has passed.
 */
export class ClosedScopes<O extends Operation = Operation> {
  readonly root: Scope = createScope(null)
  readonly #issued: IssuedOperations<O>
  /** Operations to be rejected. Null in most runs. */
  #refusals: Refusals<O> | null = null
  /** Operations closed without an event since the last decision. Null in most runs. */
  #closed: Pending<O>[] | null = null
  #openShields = 0
  /** Set if the run's own end was forced: operations in `root` no longer settle, even behind a shield. */
  #forced: Closing | null = null
  /** Set if a turn that forces the end is due. */
  #forcing: (() => unknown) | null = null

  constructor(issued: IssuedOperations<O>) {
    this.#issued = issued
  }

  /** Returns what closed a scope; null if it is open. */
  of(scope: Scope): Closing | null {
    if (this.#forced !== null && outermostOf(scope) === this.root) return this.#forced
    return closingOf(scope)
  }

  /** Returns what closed a scope in an earlier turn: from then on its operations take no position. */
  before(scope: Scope, turn: number): Closing | null {
    const closing = this.of(scope)
    return closing !== null && closing.turn < turn ? closing : null
  }

  /** Closes scopes; closed scopes keep their first closing. `error`: see {@link Closing}. */
  close(scopes: readonly Scope[], error: Closing['error'], turn: number): void {
    const closing: Closing = { error, turn, refused: 0 }
    for (const scope of scopes) scope.closed ??= closing
    this.refuseClosed()
  }

  /** Counts a refused operation. False: the limit is exceeded and it never settles; for a cancelled run this forces the end. */
  countRefused(closing: Closing): boolean {
    const { error } = closing
    if (error === null || closing.refused === maxRefused) return false
    if (++closing.refused < maxRefused) return true
    if (closing === this.root.closed) this.#forcing = error
    return false
  }

  refuse(pending: Pending<O>): void {
    this.#refusals ??= new Refusals()
    this.#refusals.add(pending)
  }

  refuseClosed(): void {
    for (const pending of this.#issued.pending.values())
      if (this.of(pending.scope) !== null) this.refuse(pending)
    this.#issued.forgetClosed()
  }

  /** The operations that wait for their rejection. */
  get refused(): Iterable<Pending<O>> {
    return this.#refusals?.waiting ?? []
  }

  /** The number of due turns that no event begins. */
  get dueTurns(): number {
    return this.#refusals === null ? 0 : this.#refusals.size + (this.#forcing === null ? 0 : 1)
  }

  /** Returns the error with which the end is to be forced in this turn, once; null if there is none. */
  takeForcing(): (() => unknown) | null {
    const forcing = this.#forcing
    this.#forcing = null
    return forcing
  }

  /** Rejects the next refused operation, unless it never settles. Returns it. */
  rejectNext(): Pending<O> {
    const pending = (this.#refusals as Refusals<O>).takeNext()
    if (pending.position !== noPosition) {
      this.#issued.close(pending)
      this.#closed ??= []
      this.#closed.push(pending)
    }
    const error = this.of(pending.scope)?.error
    if (error) pending.reject(error())
    return pending
  }

  /** The operations closed without an event since the last `takeClosed`. */
  get closed(): readonly Pending<O>[] {
    return this.#closed ?? none
  }

  takeClosed(): readonly Pending<O>[] {
    const { closed } = this
    this.#closed = null
    return closed
  }

  /** Abandons the procedure: its pending operations never settle. False: that has happened before. */
  force(turn: number): boolean {
    if (this.#forced !== null) return false
    this.#forced = { error: null, turn, refused: 0 }
    this.refuseClosed()
    return true
  }

  openShield(parent: Scope): Scope {
    this.#openShields++
    return createScope(parent, true)
  }

  closeShield(scope: Scope): void {
    scope.shielded = false
    this.#openShields--
    if (this.of(scope) !== null) this.refuseClosed()
  }

  get hasOpenShields(): boolean {
    return this.#openShields > 0
  }

  /** Whether shields delay the end: a forced end does not wait for them. */
  get awaitsShields(): boolean {
    return this.#openShields > 0 && this.#forced === null
  }
}

const none: readonly never[] = []
