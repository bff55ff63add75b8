import { showValue } from '../base/text.ts'
import { mayRunCode, type Schema, type Validation, validate as validateHere } from '../schemas/schema.ts'
import { type BodyOwner, runOwned } from './body.ts'
import { consoleLogger } from './console-logger.ts'

const schemas: BodyOwner = {
  describe: 'a schema check',
  onUnhandled: (error) =>
    consoleLogger.warn(`A schema check left a promise that rejected: ${showValue(error)}`, {
      error,
    }),
}

/**
 * Runs an author's checks. A rejection that they leave unhandled is logged and does not end the process: zod first runs
 * asynchronous checks synchronously, and drops the promise that a check returns.
 */
export function runChecks<Result>(checks: () => Result): Result {
  return runOwned(schemas, checks)
}

/** Like `validate` of schemas/schema.ts, but a rejection that a check leaves unhandled does not end the process. */
export function validate<Out>(
  schema: Schema<unknown, Out>,
  value: unknown,
): Validation<Out> | Promise<Validation<Out>> {
  return isHarmless(schema) ? validateHere(schema, value) : runChecks(() => validateHere(schema, value))
}

const harmless = new WeakMap<Schema<unknown>, boolean>()

/**
 * Returns whether a check cannot leave a rejection behind. Up to Node 22, every promise of the process takes three times
 * as long once a storage has been used. An engine that has run no step, and a client, use no other storage.
 */
function isHarmless(schema: Schema<unknown>): boolean {
  const known = harmless.get(schema)
  if (known !== undefined) return known
  const runsNoCode = !mayRunCode(schema)
  harmless.set(schema, runsNoCode)
  return runsNoCode
}
