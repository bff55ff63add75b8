import { PawlError } from '../../errors/pawl-error.ts'
import { governingRun } from './governing-run.ts'

type Verb = (...args: readonly unknown[]) => unknown

/** What a procedure calls in place of these. */
const ofCtx: { readonly [verb: string]: string } = {
  run: 'ctx.call() or ctx.spawn()',
  runOrGet: 'ctx.spawn()',
  cancel: 'ctx.get(procedure, id).cancel()',
  result: 'ctx.get(procedure, id).result()',
  signal: 'ctx.get(procedure, id).signal()',
}

/**
 * Makes every method of a facade throw in the turn of a procedure: a replay would repeat the call, and the log does not
 * hold its result. Step bodies and runs with determinism 'off' may call all methods. `of` is the facade as users write
 * it, for the error. `harmless` lists the methods that do not reach the store. Changes and returns `verbs`.
 * @throws PawlError 'nondeterministic-call', from each method
 * @example guardVerbs('run', { id, result: () => waitForResult(id) }).result() // throws in a turn
 */
export function guardVerbs<Verbs extends object>(
  of: string,
  verbs: Verbs,
  harmless: readonly (keyof Verbs)[] = [],
): Verbs {
  for (const key of Object.keys(verbs) as (keyof Verbs & string)[]) {
    const verb: unknown = verbs[key]
    if (typeof verb === 'function' && !harmless.includes(key))
      verbs[key] = guardVerb(of, key, verb as Verb) as Verbs[typeof key]
  }
  return verbs
}

function guardVerb(of: string, name: string, verb: Verb): Verb {
  return (...args) => {
    const run = governingRun()
    if (run !== null) throw refusalOfVerb(run.id, of, name)
    return verb(...args)
  }
}

/** Creates the error. Names the run, since code that awaits a promise of the procedure runs in its turn too. */
function refusalOfVerb(run: string, of: string, name: string): PawlError<'nondeterministic-call'> {
  const call = `${of}.${name}()`
  const own = Object.hasOwn(ofCtx, name) ? `${ofCtx[name]}, or ` : ''
  // A step that stops its own engine waits for itself.
  const use = name === 'stop' ? `${call} outside procedures` : `${own}${call} in the body of ctx.step()`
  const what = `${call} was called in a turn of run ${run}, outside a step. Every replay would call it again, and its result is not recorded.`
  return new PawlError('nondeterministic-call', { call, use }, { what })
}
