import { refuse } from '../../checks/options.ts'
import type { Scopes } from '../../kernel/operation.ts'
import type { Scope } from '../../kernel/scope.ts'

/** What `race`, `map` and `shield` are given of the `ctx` they belong to. */
export interface Scoped<C> {
  readonly scope: Scope
  readonly scopes: Pick<Scopes, 'close' | 'adopt' | 'openShield' | 'closeShield' | 'refusalOf'>
  readonly bodies: Bodies
  /** Makes the `ctx` of another scope. */
  ctxOf(scope: Scope): C
}

/** The body whose synchronous part runs, and the scope of its own `ctx`. */
interface Entered {
  readonly scope: Scope
  readonly what: string
}

/**
 * Calls the bodies that get a `ctx` of their own. One that forgets to take it would issue its operations in the scope
 * around it, where nothing closes them: up to its first `await` that is noticed, and refused.
 */
export class Bodies {
  #entered: Entered | null = null

  /** Refuses a call through the `ctx` of a scope, if a body is being called that has another. */
  check(scope: Scope): void {
    const entered = this.#entered
    if (entered === null || entered.scope === scope) return
    refuse(
      `ctx of ${entered.what}`,
      'another ctx',
      `Take the ctx that ${entered.what} is given as a parameter, and call that one.`,
      'the ctx around it',
    )
  }

  /** `what`: the body, for messages. Its promise; what it throws rejects it. */
  call(scope: Scope, what: string, body: () => unknown): Promise<unknown> {
    const before = this.#entered
    this.#entered = { scope, what }
    try {
      return Promise.resolve(body())
    } catch (error) {
      return Promise.reject(error as Error)
    } finally {
      this.#entered = before
    }
  }
}
