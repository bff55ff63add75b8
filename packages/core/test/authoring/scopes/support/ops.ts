import { map } from '../../../../src/authoring/scopes/map.ts'
import { race } from '../../../../src/authoring/scopes/race.ts'
import { Bodies, type Scoped } from '../../../../src/authoring/scopes/scoped.ts'
import { shield } from '../../../../src/authoring/scopes/shield.ts'
import type { Scopes } from '../../../../src/kernel/operation.ts'
import type { Scope } from '../../../../src/kernel/scope.ts'
import type { Ops } from '../../../kernel/support/trial.ts'

type Branch = Promise<unknown> | ((ctx: ScopedOps) => unknown)

/** What a procedure of these tests has: a kernel's operations, and what runs several of them. */
export interface ScopedOps extends Pick<Ops, 'note' | 'now'> {
  step(name: string): Promise<string>
  race(branches: { readonly [name: string]: Branch }): Promise<{ winner: string; value: unknown }>
  map(
    items: readonly unknown[],
    each: (item: never, ctx: ScopedOps, index: number) => unknown,
    options?: object,
  ): Promise<unknown[]>
  shield(body: (ctx: ScopedOps) => unknown): Promise<unknown>
}

/** Makes something else of the scopes of a kernel: a control, with which a law must not hold. */
export type Control = (scopes: Scopes) => Scoped<unknown>['scopes']

/** The same as a procedure of the kernel's tests. */
export function scoped(
  procedure: (ctx: ScopedOps) => unknown,
  control: Control = (scopes) => scopes,
): (ops: Ops) => unknown {
  return (ops) => {
    const bodies = new Bodies()
    const scopes = control(ops.scopes)
    const ctxOf = (scope: Scope): ScopedOps => {
      const parts: Scoped<ScopedOps> = { scope, scopes, bodies, ctxOf }
      const within = ops.within(scope)
      return {
        step: (name) => {
          bodies.check(scope)
          return within.step(name)
        },
        race: (branches) => race(parts, branches) as ReturnType<ScopedOps['race']>,
        map: (items, each, options) => map(parts, items, each, options) as ReturnType<ScopedOps['map']>,
        shield: (body) => shield(parts, body),
        note: ops.note,
        now: ops.now,
      }
    }
    return procedure(ctxOf(ops.scopes.root))
  }
}
