import { expect, test } from 'vitest'
import { type core, z } from 'zod'
import { IssueList } from '../../src/base/issues.ts'
import { checkJsonSchema } from '../../src/schemas/json-schema/check.ts'
import { isOptional, isTransforming, jsonSchemaOf } from '../../src/schemas/schema.ts'

/** A schema of a type, a value that it accepts, and whether it returns something else than it accepts. */
type Sample = readonly [schema: z.ZodType, accepted: unknown, isTransforming?: boolean]

/**
 * Every type that zod has. A zod that adds one makes this fail to compile: decide in schemas/vendors/zod.ts whether the
 * type transforms, whether it accepts `undefined` and whether its JSON Schema refuses what it accepts.
 */
const samples: { readonly [Type in core.$ZodTypeDef['type']]: Sample | null } = {
  any: [z.any(), 1],
  array: [z.array(z.string()), ['a']],
  bigint: [z.bigint(), 1n],
  boolean: [z.boolean(), true],
  catch: [z.string().catch('x'), 7],
  custom: [z.custom((value) => value === 1), 1],
  date: [z.date(), new Date(0)],
  default: [z.string().default('x'), 'a'],
  enum: [z.enum(['a', 'b']), 'a'],
  file: null, // not data that can be recorded
  intersection: [z.object({ a: z.string() }).and(z.object({ b: z.string() })), { a: 'a', b: 'b' }],
  lazy: [z.lazy(() => z.string()), 'a'],
  literal: [z.literal(['a', 1]), 1],
  map: [z.map(z.string(), z.number()), new Map([['a', 1]])],
  nan: [z.nan(), Number.NaN],
  never: null, // accepts nothing
  nonoptional: [z.string().optional().nonoptional(), 'a'],
  null: [z.null(), null],
  nullable: [z.string().nullable(), null],
  number: [z.number().positive(), 1],
  object: [z.object({ a: z.string(), b: z.number().optional() }), { a: 'a' }],
  optional: [z.string().optional(), 'a'],
  pipe: [z.string().pipe(z.string().min(1)), 'a'],
  prefault: [z.string().prefault('x'), 'a'],
  promise: null, // asynchronous, and not data
  readonly: [z.array(z.string()).readonly(), ['a']],
  record: [z.record(z.string(), z.number()), { a: 1 }],
  set: [z.set(z.string()), new Set(['a'])],
  string: [z.string().min(1), 'a'],
  success: [z.success(z.string()), 'a', true],
  symbol: [z.symbol(), Symbol.iterator],
  template_literal: [z.templateLiteral(['a', z.number()]), 'a1'],
  transform: [z.transform((value) => [value]), 1, true],

  tuple: [z.tuple([z.string()], z.number()), ['a', 1]],
  undefined: [z.undefined(), undefined],
  union: [z.union([z.string(), z.number()]), 1],
  unknown: [z.unknown(), 1],
  void: [z.void(), undefined],
  function: null, // not data
  int: null, // a name that no schema has: z.int() is a 'number'
}

const known = Object.entries(samples).flatMap(([type, sample]) =>
  sample === null ? [] : [[type, sample] as const],
)

test.each(known)(
  'knows whether %s transforms and accepts undefined, and rejects none of its values',
  (type, sample) => {
    const [schema, accepted, transforms = false] = sample
    expect(schema.def.type).toBe(type)
    expect(schema.safeParse(accepted).success).toBe(true)
    expect(isTransforming(schema)).toBe(transforms)
    // What accepts undefined only because of its own code counts as not optional.
    if (!['custom', 'lazy', 'transform'].includes(type))
      expect(isOptional(schema)).toBe(schema.safeParse(undefined).success)
    const list = new IssueList()
    checkJsonSchema(jsonSchemaOf(schema) ?? {}, accepted, 'value', list)
    expect(list.found.issues).toEqual([])
  },
)
