import { type Schema, type Validation, validate as validateHere } from '../base/schema.ts'
import { showValue } from '../base/text.ts'
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
  return runChecks(() => validateHere(schema, value))
}
