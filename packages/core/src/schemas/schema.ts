import { IssueList, type Issues, oneIssue } from '../base/issues.ts'
import { isThenable } from '../base/thenable.ts'
import { isNarrowing } from './narrowing.ts'
import { loosenArktypeJson } from './vendors/arktype.ts'
import {
  acceptsUndefined,
  findsZodCode,
  findsZodTransform,
  isZodType,
  loosenJsonSchema,
} from './vendors/zod.ts'

/** A Standard Schema: zod ≥ 4.2, valibot, arktype. Forms need its JSON Schema part. */
export interface Schema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    // biome-ignore lint/suspicious/noExplicitAny: the signature of the standard
    readonly validate: (value: unknown, ...rest: any[]) => unknown
    readonly types?: { readonly input: In; readonly output: Out } | undefined
  }
}

/** The value that the schema returned, or the issues found. */
export type Validation<Out = unknown> =
  | { readonly ok: true; readonly value: Out }
  | ({ readonly ok: false } & Issues)

/** Returns whether a value implements Standard Schema. Arktype's schemas are functions. */
export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<Schema>)['~standard']
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function'
}

/**
 * Validates a value. Returns a promise only if the schema validates asynchronously.
 * An error thrown by a check or a transformation of the schema becomes an issue.
 */
export function validate<Out>(
  schema: Schema<unknown, Out>,
  value: unknown,
): Validation<Out> | Promise<Validation<Out>> {
  let result: unknown
  try {
    result = schema['~standard'].validate(value)
  } catch (error) {
    return refusal(error)
  }
  return isThenable(result)
    ? Promise.resolve(result).then((late) => readResult<Out>(late), refusal)
    : readResult(result)
}

interface StandardResult {
  readonly value?: unknown
  readonly issues?: ArrayLike<StandardIssue> | undefined
}
interface StandardIssue {
  readonly message: string
  readonly path?: readonly unknown[] | undefined
}

function readResult<Out>(result: unknown): Validation<Out> {
  const { issues, value } = result as StandardResult
  if (!issues) return { ok: true, value: value as Out }
  const list = new IssueList()
  // By index: a library's array may be of a subclass that cannot be copied.
  for (let i = 0; i < issues.length && !list.isFull; i++) {
    const { path, message } = issues[i] as StandardIssue
    list.add(path ?? [], String(message))
  }
  return { ok: false, ...list.found }
}

function refusal(error: unknown): Validation<never> {
  return { ok: false, ...oneIssue('', error instanceof Error ? error.message : String(error)) }
}

/**
 * Returns the JSON Schema (draft 2020-12) of the schema's input.
 * It comes from the JSON Schema part of the standard. Parts that JSON Schema cannot express (a Date, a bigint, a
 * pattern with flags, a constraint after trimming) accept any value; the schema itself still checks them.
 * Undefined if the vendor has no such part, or cannot express this schema.
 */
export function jsonSchemaOf(schema: Schema): object | undefined {
  return readJsonSchema(schema, 'input')
}

/** Returns the JSON Schema of what the schema returns, as {@link jsonSchemaOf}. */
export function outputJsonSchemaOf(schema: Schema): object | undefined {
  return readJsonSchema(schema, 'output')
}

type Direction = 'input' | 'output'
interface JsonSchemaPart {
  readonly jsonSchema?: { readonly [direction in Direction]?: (options: object) => unknown }
}

function readJsonSchema(schema: Schema, direction: Direction): object | undefined {
  const part = (schema['~standard'] as JsonSchemaPart).jsonSchema
  try {
    const libraryOptions = { unrepresentable: 'any', override: loosenJsonSchema }
    const options = { target: 'draft-2020-12', libraryOptions }
    const json = part?.[direction]?.(options)
    if (typeof json !== 'object' || json === null) return undefined
    // A copy, since zod adds a hidden member to its result.
    const copy: object = JSON.parse(JSON.stringify(json))
    if (schema['~standard'].vendor === 'arktype') loosenArktypeJson(schema, copy)
    return copy
  } catch {
    return undefined
  }
}

/**
 * Returns whether a schema's output differs from its input, so that an output cannot be validated again.
 * Examples: `z.string().transform(…)`, codecs, `z.preprocess`. Defaults, trimming and dropping unknown keys do not
 * count. Exact for zod. Other libraries are judged by their JSON Schema part: the output must be the input or a narrower
 * schema. Without that part the result is false.
 */
export function isTransforming(schema: Schema): boolean {
  if (isZodType(schema)) return findsZodTransform(schema)
  const accepted = readJsonSchema(schema, 'input')
  const returned = readJsonSchema(schema, 'output')
  if (accepted === undefined || returned === undefined) return false
  return !isNarrowing(returned, accepted)
}

/** Returns whether validation may run the author's code. Detected for zod; assumed for other libraries. */
export function mayRunCode(schema: Schema): boolean {
  try {
    return !isZodType(schema) || findsZodCode(schema)
  } catch {
    // A part refers to a schema that is not defined yet.
    return true
  }
}

/** Returns whether the schema accepts undefined, so that an answer may be empty. Detected for zod only. */
export function isOptional(schema: Schema): boolean {
  return isZodType(schema) && acceptsUndefined(schema, false)
}

/** Returns whether the schema refuses undefined; undefined if validation may run the author's code, which then is not asked. */
export function refusesUndefined(schema: Schema): boolean | undefined {
  if (mayRunCode(schema)) return undefined
  const checked = validate(schema, undefined)
  return checked instanceof Promise ? undefined : !checked.ok
}
