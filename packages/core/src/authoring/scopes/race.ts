import { isThenable } from '../../base/thenable.ts'
import { checkObject, refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { createScope, type Scope } from '../../kernel/scope.ts'
import type { Scoped } from './scoped.ts'

interface Branch {
  readonly name: string
  readonly scope: Scope
  readonly promise: Promise<unknown>
}

/**
 * Settles like the first branch to settle, and closes the other branches in the same delivery. The number of hops between
 * the promise of a branch and the end of the race is part of the log format: a change would break golden logs.
 */
export function race<C>(scoped: Scoped<C>, given: unknown): Promise<unknown> {
  const { scope, scopes, bodies } = scoped
  bodies.check(scope)
  const named = Object.entries(checkObject('branches of race', given))
  if (named.length === 0) refuse('branches of race', given, 'Pass at least one branch.')
  const unknown: string[] = []
  const own = createScope(scope)
  own.isRace = true
  for (const [name, branch] of named) checkBranch(name, branch)
  const branches = named.map(([name, branch]) => begin(scoped, own, name, branch, unknown))
  return new Promise((resolve, reject) => {
    const end = (winner: Branch | null, conclude: () => void): void => {
      if (!own.isRace) return
      own.isRace = false
      const losers = branches.filter((branch) => branch !== winner).map((branch) => branch.scope)
      scopes.close(losers, () => lostTo(winner?.name))
      conclude()
    }
    for (const branch of branches)
      branch.promise.then(
        (value) => end(branch, () => resolve({ winner: branch.name, value })),
        (error: unknown) => end(branch, () => reject(error as Error)),
      )
    // In a closed scope, a promise that never settles may come from a refused operation.
    if (unknown.length > 0 && scopes.refusalOf(scope) === null)
      void afterTwoHops(() => end(null, () => reject(noOperation(unknown[0] as string))))
  })
}

function checkBranch(name: string, branch: unknown): void {
  if (typeof branch === 'function' || isThenable(branch)) return
  refuse(
    `branch '${name}' of race`,
    branch,
    'A branch must be one operation, such as ctx.sleep(…), or a function that takes a ctx.',
  )
}

/** Starts a branch. Adds its name to `unknown` if it is a promise other than an operation: it is rejected unless it has settled. */
function begin<C>(
  { scope, scopes, bodies, ctxOf }: Scoped<C>,
  race: Scope,
  name: string,
  branch: unknown,
  unknown: string[],
): Branch {
  const own = createScope(race)
  const what = `branch '${name}' of race`
  if (typeof branch === 'function') {
    const body = branch as (ctx: C) => unknown
    return { name, scope: own, promise: bodies.call(own, what, () => body(ctxOf(own))) }
  }
  const promise = branch as Promise<unknown>
  const found = scopes.adopt(promise, scope, own)
  if (found === 'elsewhere')
    refuse(
      what,
      branch,
      'Each branch needs its own operation, issued by the ctx of this race.',
      'an operation of another ctx or of another branch',
    )
  if (found === 'none') unknown.push(name)
  return { name, scope: own, promise: Promise.resolve(promise) }
}

async function afterTwoHops(then: () => void): Promise<void> {
  await Promise.resolve()
  await Promise.resolve()
  then()
}

function noOperation(name: string): PawlError {
  return new PawlError(
    'option-invalid',
    { option: `branch '${name}' of race`, given: 'a promise that is not an operation' },
    {
      what: `Branch '${name}' of a race is a promise that is not an operation of its ctx, so it cannot be closed.`,
      remedy: `Pass a function that uses its own ctx: ${name}: async (ctx) => …`,
    },
  )
}

function lostTo(winner: string | undefined): PawlError {
  const reason = winner === undefined ? 'the race was refused' : `branch '${winner}' settled first`
  return new PawlError(
    'cancelled',
    { reason },
    {
      what: `This branch of a race was closed: ${reason}.`,
      next: 'Every pending operation of the branch rejects with this error.',
    },
  )
}
