import type { Duration } from '../base/duration.ts'
import type { Audience } from '../base/people.ts'
import type { NoOthers, Refused } from '../base/refused.ts'
import {
  checkFunction,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkSchema,
  partOf,
  refuse,
} from '../checks/options.ts'
import { checkAudience } from '../checks/people.ts'
import {
  milliseconds,
  oneOf,
  optional,
  readOptions,
  readPart,
  required,
  type Spec,
  whole,
} from '../checks/spec.ts'
import type { Schema } from '../schemas/schema.ts'
import { isTransforming } from '../schemas/schema.ts'
import type { Ctx } from './ctx.ts'
import type { InputOf, ParsedOf, ProcedureRef, TalkOf, types } from './procedure-types.ts'
import type { RollbackSpec } from './rollback/rollback.ts'

/** A plain async function that survives crashes. Created by {@link procedure}. */
// biome-ignore lint/complexity/noBannedTypes: an empty object type is allowed
export interface Procedure<Input, Output, T = {}> extends ProcedureRef<Input, Output, T> {
  readonly version: number
  readonly schemas: { readonly input: Schema | undefined; readonly output: Schema | undefined }
}

// biome-ignore-start lint/suspicious/noExplicitAny: a schema of anything
/** The options of `procedure`. */
export interface ProcedureSpec {
  /**
   * Name of the procedure, stored with every run: if you rename it, its old runs no longer find their code. Range: 1 to
   * 200 characters, unique in an engine except for its versions.
   */
  readonly name: string
  /** Version of the code. A run stays on the version it started with. Default: 1. Range: whole numbers from 1 to 2147483647. */
  readonly version?: number
  /** Schema of the input, checked before a run is created. Default: the procedure takes no input. */
  readonly input?: Schema<any, any>
  /** Schema of the output, checked before the run completes. Default: the output is not checked, and has the type that the body returns. */
  readonly output?: Schema<any, any>
  /**
   * Schemas of the signals that a run can receive, by name. Use `z.void()` for a signal without a payload. An engine
   * rejects schemas that transform. Default: none.
   */
  readonly signals?: { readonly [name: string]: Schema<any, any> }
  /**
   * Schemas of the values that a run can `expose`, by name. They give the types, and are not used to check values. Default: none.
   * Range: at most 64 names.
   */
  readonly state?: { readonly [name: string]: Schema<any, any> }
  /**
   * Schemas of the updates that a run can handle with `ctx.on`, by name: of the input, and of the reply. An engine rejects schemas
   * that transform. Default: none.
   */
  readonly updates?: {
    readonly [name: string]: { readonly input: Schema<any, any>; readonly output: Schema<any, any> }
  }
  /**
   * What a programming error in the body (TypeError, ReferenceError, 'option-invalid' …) does to its run: 'park' makes it
   * `stuck` with code 'procedure-broken' until the code is fixed, 'fail' ends it. Default: the `bugs` of the engine.
   */
  readonly bugs?: 'park' | 'fail'
  /**
   * Time that a cancelled run has for its `finally` blocks and shields. Then its end is forced. Default: '1m'. Range: '0ms' or
   * more.
   */
  readonly grace?: Duration
  /** Audience of the procedure's asks that name none, and of the asks of its rollbacks. Default: none. */
  readonly owner?: Audience
  /** What a rollback does if an undo fails. Default: it continues with the next undo. */
  readonly rollback?: RollbackSpec
}

/** What a programming error does to its run: 'park' makes it `stuck`, 'fail' ends it. */
export type Bugs = 'park' | 'fail'

// One conditional around the whole function: otherwise literals in `return { status: 'done' }` are widened.
type Body<S, R> = S extends { readonly output: Schema<infer Returned, any> }
  ? (ctx: Ctx<TalkOf<S>, InputOf<S>>, input: ParsedOf<S>) => Promise<Returned>
  : (ctx: Ctx<TalkOf<S>, InputOf<S>>, input: ParsedOf<S>) => Promise<R>
type OutputOf<S, R> = S extends { readonly output: Schema<any, infer Out> } ? Out : R
// biome-ignore-end lint/suspicious/noExplicitAny: a schema of anything

// In the symbol registry, so that a procedure created by another copy of the package is recognized.
const definition = Symbol.for('@pawl/core/procedure')
const reference = Symbol.for('@pawl/core/ref')

/**
 * The `ctx` of a procedure, for helper functions. If the body returns what such a helper returns, annotate the body
 * (`async (ctx, input): Promise<string> =>`): otherwise its types are circular.
 * @example async function remind(ctx: CtxOf<typeof order>, who: string) { … }
 */
export type CtxOf<P> = typeof types extends keyof P
  ? // biome-ignore lint/suspicious/noExplicitAny: a procedure of any output
    P extends ProcedureRef<infer Input, any, infer T>
    ? Ctx<T, Input>
    : never
  : Refused<'CtxOf takes the type of a procedure: CtxOf<typeof order>'>

/** The schemas of an update. */
export interface UpdateSchemas {
  readonly input: Schema
  readonly output: Schema
}

/** The code of a procedure, as the worker runs it. */
export interface ProcedureDefinition {
  readonly name: string
  readonly version: number
  readonly input: Schema | undefined
  readonly output: Schema | undefined
  readonly signals: ReadonlyMap<string, Schema>
  /** This and `updates`: undefined if there is none. */
  readonly state?: ReadonlyMap<string, Schema> | undefined
  readonly updates?: ReadonlyMap<string, UpdateSchemas> | undefined
  /** Undefined: the engine's setting applies, also for a procedure created by an earlier version of the package. */
  readonly bugs?: Bugs | undefined
  /** In ms. Undefined: the default, also of a procedure made by an earlier version of the package. */
  readonly graceMs?: number | undefined
  readonly owner?: Audience | undefined
  /** Whether people are asked about an undo that failed. */
  readonly asksOnFailedUndo?: boolean | undefined
  readonly body: (ctx: Ctx, input: unknown) => Promise<unknown>
}

/**
 * Defines a procedure. Its body is plain JavaScript (loops, `try`, `Promise.all`); side effects go through `ctx`.
 *
 * @throws PawlError 'option-invalid'
 * @example
 * export const greet = procedure(
 *   { name: 'greet', input: z.object({ name: z.string() }) },
 *   async (ctx, { name }) => {
 *     await ctx.sleep('1h')
 *     return ctx.step('compose', () => `Hello, ${name}`)
 *   },
 * )
 */
export function procedure<const S extends ProcedureSpec, R>(
  spec: S & NoOthers<S, ProcedureSpec, 'procedure'>,
  body: Body<S, R>,
): Procedure<InputOf<S>, OutputOf<S, R>, TalkOf<S>> {
  const read = readSpec(spec)
  checkBody(body)
  const defined: ProcedureDefinition = { ...read, body: body as ProcedureDefinition['body'] }
  const { name, version, input, output } = read
  const made = { name, version, schemas: Object.freeze({ input, output }), [definition]: defined }
  Object.defineProperty(made, definition, { enumerable: false })
  return Object.freeze(made)
}

/** Returns the code of a procedure; undefined if {@link procedure} did not create the value. */
export function definitionOf(value: unknown): ProcedureDefinition | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  return (value as { readonly [definition]?: ProcedureDefinition })[definition]
}

/**
 * Refers to a procedure by its name and types, without its code: for a process that only starts and signals runs.
 * @throws PawlError 'option-invalid'
 * @example
 * import type { refund } from './procedures.js'
 * const run = await client.run(ref<typeof refund>('refund'), { orderId: 'A-1', amount: 45 })
 */
// biome-ignore lint/suspicious/noExplicitAny: a procedure of any types
export function ref<P extends ProcedureRef<any, any, any> = never>(
  name: [P] extends [never] ? Refused<"say whose types it has: ref<typeof order>('order')"> : string,
): P extends ProcedureRef<infer I, infer O, infer T> ? ProcedureRef<I, O, T> : never {
  const made = { name: checkName('name of ref', name), [reference]: true }
  Object.defineProperty(made, reference, { enumerable: false })
  return Object.freeze(made) as unknown as ReturnType<typeof ref<P>>
}

/** Returns whether {@link procedure} or {@link ref} created a value. Recognizes other copies of this package. */
export function isProcedureRef(value: unknown): value is { readonly name: string } {
  return definitionOf(value) !== undefined || (Object(value) as { [reference]?: unknown })[reference] === true
}

/**
 * Rejects signals and updates whose schema transforms: a payload is validated when it is sent and again when it is received.
 * Called when an engine starts.
 * @throws PawlError 'option-invalid'
 */
export function checkMessages({ name, signals, updates }: ProcedureDefinition): void {
  const check = (what: string, schema: Schema): void => {
    if (!isTransforming(schema)) return
    const remedy = 'Use a schema whose output is valid input, and transform in the procedure.'
    refuse(`${what} of procedure '${name}'`, schema, remedy, 'a schema that transforms')
  }
  for (const [signal, schema] of signals) check(`signals.${signal}`, schema)
  for (const [update, { input, output }] of updates ?? []) {
    check(`updates.${update}.input`, input)
    check(`updates.${update}.output`, output)
  }
}

/** Maximum number of values that a procedure can expose. */
const maxStates = 64

/** A generator returns no promise: it would only fail when a run is executed. */
function checkBody(body: unknown): void {
  const tag = Object.prototype.toString.call(checkFunction('body of procedure', body))
  if (tag === '[object GeneratorFunction]' || tag === '[object AsyncGeneratorFunction]')
    refuse(
      'body of procedure',
      body,
      'It must be an async function, and use `await` for `yield`.',
      'a generator',
    )
}

type ReadSpec = Omit<ProcedureDefinition, 'body'>

const rollbackOptions = {
  onFailure: optional(oneOf(['continue', 'ask']), 'continue'),
} satisfies Spec<RollbackSpec>

const procedureOptions = {
  name: required(checkName),
  version: optional(whole(1, 2 ** 31 - 1), 1),
  input: optional(checkSchema, undefined),
  output: optional(checkSchema, undefined),
  signals: optional(readSignals, new Map<string, Schema>()),
  state: optional(readState, undefined),
  updates: optional(readUpdates, undefined),
  bugs: optional(checkBugs, undefined),
  grace: optional(milliseconds, undefined),
  owner: optional(checkAudience, undefined),
  rollback: optional((option, given) => readPart(option, given, rollbackOptions, `the ${option}`)),
} satisfies Spec<ProcedureSpec>

function readSpec(spec: unknown): ReadSpec {
  const given = checkObject('options of procedure', spec)
  const named = `of procedure '${checkName('name of procedure', given['name'])}'`
  const options = readOptions(named, given, procedureOptions, 'the options of procedure')
  const { rollback, grace: graceMs, ...others } = options
  const asks = rollback?.onFailure === 'ask'
  if (asks && others.owner === undefined)
    refuse(`rollback.onFailure ${named}`, 'ask', "Add an owner, such as owner: 'group:finance'.")
  return { ...others, graceMs, asksOnFailedUndo: asks ? true : undefined }
}

/** @throws PawlError 'option-invalid' */
export function checkBugs(option: string, given: unknown): Bugs {
  return checkOneOf(option, given, ['park', 'fail'])
}

function readSignals(option: string, given: unknown): ReadonlyMap<string, Schema> {
  return readSchemas('signal', option, given)
}

function readState(option: string, given: unknown): ReadSpec['state'] {
  const state = readSchemas('state', option, given)
  if (state.size > maxStates) refuse(option, state.size, `At most ${maxStates} names are allowed.`)
  return state
}

function readSchemas(part: 'signal' | 'state', option: string, given: unknown): ReadonlyMap<string, Schema> {
  const of = option.slice(option.indexOf(' '))
  return new Map(
    Object.entries(checkObject(option, given)).map(([name, schema]) => {
      checkName(`name of a ${part}${of}`, name)
      return [name, checkSchema(partOf(option, name), schema)]
    }),
  )
}

function readUpdates(option: string, given: unknown): ReadSpec['updates'] {
  const of = option.slice(option.indexOf(' '))
  const schemasOf = (name: string, schemas: unknown): UpdateSchemas => {
    const update = partOf(option, name)
    const { input, output } = checkObject(update, schemas)
    checkKeys(update, schemas as object, ['input', 'output'])
    return {
      input: checkSchema(`updates.${name}.input${of}`, input),
      output: checkSchema(`updates.${name}.output${of}`, output),
    }
  }
  return new Map(
    Object.entries(checkObject(option, given)).map(([name, schemas]) => {
      checkName(`name of an update${of}`, name)
      return [name, schemasOf(name, schemas)]
    }),
  )
}
