import type { Duration } from '../base/duration.ts'
import type { Audience } from '../base/people.ts'
import type { NoOthers, Refused } from '../base/refused.ts'
import { parseDuration } from '../checks/duration.ts'
import {
  checkFunction,
  checkKeys,
  checkName,
  checkObject,
  checkOneOf,
  checkSchema,
  checkWhole,
  refuse,
} from '../checks/options.ts'
import { checkAudience } from '../checks/people.ts'
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
  checkFunction('body of procedure', body)
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

type ReadSpec = Omit<ProcedureDefinition, 'body'>

function readSpec(given: ProcedureSpec): ReadSpec {
  const spec: Partial<ProcedureSpec> = checkObject('options of procedure', given)
  checkKeys('the options of procedure', spec, [
    'name',
    'version',
    'input',
    'output',
    'signals',
    'state',
    'updates',
    'bugs',
    'grace',
    'owner',
    'rollback',
  ])
  const name = checkName('name of procedure', spec.name)
  const of = `of procedure '${name}'`
  return {
    name,
    version: spec.version === undefined ? 1 : checkWhole(`version ${of}`, spec.version, 1, 2 ** 31 - 1),
    input: spec.input === undefined ? undefined : checkSchema(`input ${of}`, spec.input),
    output: spec.output === undefined ? undefined : checkSchema(`output ${of}`, spec.output),
    signals: readSchemas('signals', of, spec.signals),
    state: spec.state === undefined ? undefined : readState(of, spec.state),
    updates: spec.updates === undefined ? undefined : readUpdates(of, spec.updates),
    bugs: spec.bugs === undefined ? undefined : readBugs(of, spec.bugs),
    ...readOwner(of, spec),
    graceMs: spec.grace === undefined ? undefined : parseDuration(spec.grace, `grace ${of}`),
  }
}

/** Reads the owner, and whether the owner is asked about undos that fail. */
function readOwner(
  of: string,
  { owner, rollback }: Partial<ProcedureSpec>,
): Pick<ReadSpec, 'owner' | 'asksOnFailedUndo'> {
  const named = owner === undefined ? undefined : checkAudience(`owner ${of}`, owner)
  const options = checkObject(`rollback ${of}`, rollback)
  checkKeys(`the rollback ${of}`, options, ['onFailure'])
  const { onFailure = 'continue' } = options
  const asks = checkOneOf(`rollback.onFailure ${of}`, onFailure, ['continue', 'ask']) === 'ask'
  if (asks && named === undefined)
    refuse(`rollback.onFailure ${of}`, onFailure, "Add an owner, such as owner: 'group:finance'.")
  return { owner: named, asksOnFailedUndo: asks ? true : undefined }
}

/** @throws PawlError 'option-invalid' */
export function readBugs(of: string, given: unknown): Bugs {
  return checkOneOf(`bugs ${of}`, given, ['park', 'fail'])
}

function readSchemas(part: 'signals' | 'state', of: string, given: unknown): ReadonlyMap<string, Schema> {
  return new Map(
    Object.entries(checkObject(`${part} ${of}`, given)).map(([name, schema]) => {
      checkName(`name of a ${part === 'state' ? part : 'signal'} ${of}`, name)
      return [name, checkSchema(`${part}.${name} ${of}`, schema)]
    }),
  )
}

function readState(of: string, given: unknown): ReadSpec['state'] {
  const state = readSchemas('state', of, given)
  if (state.size > maxStates) refuse(`state ${of}`, state.size, `At most ${maxStates} names are allowed.`)
  return state
}

function readUpdates(of: string, given: unknown): ReadSpec['updates'] {
  return new Map(
    Object.entries(checkObject(`updates ${of}`, given)).map(([name, schemas]) => {
      checkName(`name of an update ${of}`, name)
      const { input, output } = checkObject(`updates.${name} ${of}`, schemas)
      checkKeys(`updates.${name} ${of}`, schemas as object, ['input', 'output'])
      return [
        name,
        {
          input: checkSchema(`updates.${name}.input ${of}`, input),
          output: checkSchema(`updates.${name}.output ${of}`, output),
        },
      ]
    }),
  )
}
