import { IssueList, type Issues } from '../base/issues.ts'
import { countParts } from '../base/parts.ts'
import { showValue } from '../base/text.ts'
import { checkJsonSchema } from '../schemas/json-schema/check.ts'
import {
  jsonSchemaOf,
  mayRunCode,
  type Schema,
  type Validation,
  validate as validateHere,
} from '../schemas/schema.ts'
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

/**
 * Like `validate` of schemas/schema.ts, but a rejection that a check leaves unhandled does not end the process, and a value with a
 * hundred mistakes or more does not keep it busy: the author's schema may collect a million.
 */
export function validate<Out>(
  schema: Schema<unknown, Out>,
  value: unknown,
): Validation<Out> | Promise<Validation<Out>> {
  const refused = refusalOf(schema, value)
  if (refused !== null) return { ok: false, ...refused }
  return isHarmless(schema) ? validateHere(schema, value) : runChecks(() => validateHere(schema, value))
}

/** A value with as many parts is checked by its JSON Schema first. */
const manyParts = 1_000

/**
 * Returns a hundred issues that the JSON Schema of a schema finds in a large value. Null if there are fewer, or if the value cannot
 * be read: the schema itself tells better.
 */
function refusalOf(schema: Schema<unknown>, value: unknown): Issues | null {
  try {
    const json = countParts(value, manyParts) < manyParts ? null : jsonOf(schema)
    if (json === null) return null
    const list = new IssueList()
    checkJsonSchema(json, value, '', list)
    return list.isFull ? list.found : null
  } catch {
    return null
  }
}

function jsonOf(schema: Schema<unknown>): object | null {
  const known = jsonSchemas.get(schema)
  const json = known === undefined ? (jsonSchemaOf(schema) ?? null) : known
  jsonSchemas.set(schema, json)
  return json
}

/** Null: it has none. */
const jsonSchemas = new WeakMap<Schema<unknown>, object | null>()

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
