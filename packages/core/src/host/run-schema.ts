import { showValue } from '../base/text.ts'
import { mayRunCode, type Schema, type Validation, validate as validateHere } from '../schemas/schema.ts'
import { type BodyOwner, runOwned } from './body.ts'
import { consoleLogger } from './console-logger.ts'

const schemas: BodyOwner = {
  describe: 'a check of a schema',
  onStray: (error) =>
    consoleLogger.warn(`a check of a schema left something behind that failed: ${showValue(error)}`, {
      error,
    }),
}

/**
 * Runs checks of the author's. What they leave behind is theirs, and does not end the process: zod first tries to do
 * without promises, whatever its checks are, and leaves the one that a check gives to nobody.
 */
export function runChecks<Result>(checks: () => Result): Result {
  return runOwned(schemas, checks)
}

/** As that of base/schema, of which nothing that its checks leave behind ends the process. */
export function validate<Out>(
  schema: Schema<unknown, Out>,
  value: unknown,
): Validation<Out> | Promise<Validation<Out>> {
  return isHarmless(schema) ? validateHere(schema, value) : runChecks(() => validateHere(schema, value))
}

const harmless = new WeakMap<Schema<unknown>, boolean>()

/**
 * It can leave nothing behind that anybody would have to own. Worth knowing: up to Node 22 each promise of the process
 * takes three times as long once a storage was in use, and a client may never run anything else in one.
 */
function isHarmless(schema: Schema<unknown>): boolean {
  const known = harmless.get(schema)
  if (known !== undefined) return known
  const runsNothing = !mayRunCode(schema)
  harmless.set(schema, runsNothing)
  return runsNothing
}
