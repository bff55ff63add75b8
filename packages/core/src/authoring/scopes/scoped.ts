import { refuse } from '../../checks/options.ts'
import type { Scopes } from '../../kernel/operation.ts'
import type { Scope } from '../../kernel/scope.ts'

/** The parts of a `ctx` that `race`, `map` and `shield` use. */
export interface Scoped<C> {
  readonly scope: Scope
  readonly scopes: Pick<Scopes, 'close' | 'adopt' | 'openShield' | 'closeShield' | 'refusalOf'>
  readonly bodies: Bodies
  /** Creates the `ctx` of another scope. */
  readonly ctxOf: (scope: Scope) => C
}

/** The body whose synchronous part is running, and the scope of its `ctx`. */
interface Entered {
  readonly scope: Scope
  readonly what: string
}

/**
 * Calls bodies that receive their own `ctx`. A body that uses the outer one instead would issue operations that nothing
 * closes; up to its first `await` this is detected and rejected.
 */
export class Bodies {
  #entered: Entered | null = null

  /** Rejects a call through the `ctx` of a scope while a body with another `ctx` is being called. */
  check(scope: Scope): void {
    const entered = this.#entered
    if (entered === null || entered.scope === scope) return
    refuse(
      `ctx of ${entered.what}`,
      'another ctx',
      `Use the ctx that ${entered.what} receives as a parameter.`,
      'the outer ctx',
    )
  }

  /** Calls a body and returns its promise, which rejects with an error that it throws. `what` names the body in messages. */
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
