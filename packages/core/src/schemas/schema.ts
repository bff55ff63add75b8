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

/** Anything that follows Standard Schema: zod ≥ 4.2, valibot, arktype. Forms need its JSON Schema part. */
export interface Schema<In = unknown, Out = In> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    // biome-ignore lint/suspicious/noExplicitAny: the signature of the standard
    readonly validate: (value: unknown, ...rest: any[]) => unknown
    readonly types?: { readonly input: In; readonly output: Out } | undefined
  }
}

/** A value as the schema returns it, or what is wrong with it. */
export type Validation<Out = unknown> =
  | { readonly ok: true; readonly value: Out }
  | ({ readonly ok: false } & Issues)

/** Whether a value follows Standard Schema. Those of arktype are functions. */
export function isSchema(value: unknown): value is Schema {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard = (value as Partial<Schema>)['~standard']
  return typeof standard === 'object' && standard !== null && typeof standard.validate === 'function'
}

/**
 * Checks a value. At once, or with a promise if the schema does its checks that way. What a check or a
 * transformation of the schema throws is an issue like any other.
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
  // By index: the array of a library may be of a class of its own, which cannot be copied.
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
 * The JSON Schema (draft 2020-12) of what the schema accepts, from the JSON Schema part of the standard.
 * What JSON Schema cannot say (a Date, a bigint, a pattern with flags, what holds once it is trimmed) accepts anything
 * there; the schema itself still checks it.
 * Undefined if the vendor has no such part, or cannot express this schema.
 */
export function jsonSchemaOf(schema: Schema): object | undefined {
  return readJsonSchema(schema, 'input')
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
    // A copy, since zod hides a member of its own in what it returns.
    const copy: object = JSON.parse(JSON.stringify(json))
    if (schema['~standard'].vendor === 'arktype') loosenArktypeJson(schema, copy)
    return copy
  } catch {
    return undefined
  }
}

/**
 * Whether a schema returns something else than it accepts, so that what it returned cannot be checked
 * again: `z.string().transform(…)`, codecs, `z.preprocess`. Defaults, trimming and dropping unknown keys are
 * no transformation. Exact for zod; for others judged by their JSON Schema part, where what is returned must be what is
 * accepted or a narrower kind of it, and false without one.
 */
export function isTransforming(schema: Schema): boolean {
  if (isZodType(schema)) return findsZodTransform(schema)
  const accepted = readJsonSchema(schema, 'input')
  const returned = readJsonSchema(schema, 'output')
  if (accepted === undefined || returned === undefined) return false
  return !isNarrowing(returned, accepted)
}

/** Whether a check may run the code of its author. Known of zod; of other libraries it is assumed. */
export function mayRunCode(schema: Schema): boolean {
  try {
    return !isZodType(schema) || findsZodCode(schema)
  } catch {
    // A part that refers to a schema that is not there yet.
    return true
  }
}

/** Whether it takes undefined, so that an answer may be left empty. Known of zod only. */
export function isOptional(schema: Schema): boolean {
  return isZodType(schema) && acceptsUndefined(schema, false)
}
