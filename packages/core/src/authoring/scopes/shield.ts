import { checkFunction } from '../../checks/options.ts'
import type { Scoped } from './scoped.ts'

/** Calls a body in a scope that is not closed with the scopes around it. */
export function shield<C>({ scope, scopes, bodies, ctxOf }: Scoped<C>, body: unknown): Promise<unknown> {
  bodies.check(scope)
  checkFunction('body of shield', body)
  const own = scopes.openShield(scope)
  return bodies
    .call(own, 'shield', () => (body as (ctx: C) => unknown)(ctxOf(own)))
    .finally(() => scopes.closeShield(own))
}
