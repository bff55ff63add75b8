import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import * as mini from 'zod/mini'
import { encode } from '../../src/events/payload.ts'
import {
  isSchema,
  isTransforming,
  jsonSchemaOf,
  mayRunCode,
  type Schema,
  validate,
} from '../../src/schemas/schema.ts'

/** What another vendor's schema looks like, with or without its JSON Schema part. */
function foreignSchema(
  validateValue: (value: unknown) => unknown,
  jsonSchema?: object,
  vendor = 'other',
): Schema {
  const standard = { version: 1 as const, vendor, validate: validateValue }
  return { '~standard': jsonSchema === undefined ? standard : { ...standard, jsonSchema } } as Schema
}

describe('a schema', () => {
  test('accepts anything that implements Standard Schema, functions included', () => {
    expect(isSchema(z.string())).toBe(true)
    expect(
      isSchema(
        Object.assign(
          () => 1,
          foreignSchema(() => ({ value: 1 })),
        ),
      ),
    ).toBe(true)
    expect(
      [{ id: 'string' }, Number, null, undefined, 'string', { '~standard': {} }].map(isSchema),
    ).not.toContain(true)
  })
})

describe('validating', () => {
  test('returns the output of a schema', () => {
    const schema = z.object({ id: z.string(), count: z.number().default(1) })
    expect(validate(schema, { id: 'a', more: true })).toEqual({ ok: true, value: { id: 'a', count: 1 } })
  })

  test('returns issues with paths', () => {
    const schema = z.object({ items: z.array(z.object({ price: z.number() })) })
    expect(validate(schema, { items: [{ price: 1 }, { price: 'x' }] })).toEqual({
      ok: false,
      issues: [{ path: 'items[1].price', message: expect.stringContaining('expected number') }],
    })
    expect(validate(schema, 7)).toMatchObject({ ok: false, issues: [{ path: '' }] })
  })

  test('reads path segments that are objects', () => {
    const issues = [
      { message: 'bad', path: [{ key: 'items' }, { key: 0 }, { key: 'price' }] },
      { message: 'worse' },
    ]
    expect(
      validate(
        foreignSchema(() => ({ issues })),
        1,
      ),
    ).toEqual({
      ok: false,
      issues: [
        { path: 'items[0].price', message: 'bad' },
        { path: '', message: 'worse' },
      ],
    })
  })

  test('awaits an asynchronous schema', async () => {
    const schema = z.string().refine(async (text) => text !== 'taken', 'is taken')
    const pending = validate(schema, 'taken')
    expect(pending).toBeInstanceOf(Promise)
    expect(await pending).toEqual({ ok: false, issues: [{ path: '', message: 'is taken' }] })
    expect(await validate(schema, 'free')).toEqual({ ok: true, value: 'free' })
  })

  test('reports an error of a schema as an issue', async () => {
    const throwing = foreignSchema(() => {
      throw new Error('broken')
    })
    expect(validate(throwing, 1)).toEqual({ ok: false, issues: [{ path: '', message: 'broken' }] })
    const rejecting = foreignSchema(() => Promise.reject('odd'))
    expect(await validate(rejecting, 1)).toEqual({ ok: false, issues: [{ path: '', message: 'odd' }] })
  })
})

describe('the JSON Schema', () => {
  test('describes the input of a schema as JSON Schema', () => {
    expect(jsonSchemaOf(z.object({ name: z.string().min(1), age: z.number().int().default(0) }))).toEqual({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: {
        name: { type: 'string', minLength: 1 },
        age: {
          type: 'integer',
          default: 0,
          minimum: Number.MIN_SAFE_INTEGER,
          maximum: Number.MAX_SAFE_INTEGER,
        },
      },
      required: ['name'],
    })
  })

  test('leaves parts that JSON cannot express open in JSON Schema', () => {
    expect(jsonSchemaOf(z.object({ on: z.date(), many: z.bigint() }))).toMatchObject({
      properties: { on: {}, many: {} },
    })
  })

  test('returns JSON Schema as plain data without hidden members of the vendor', () => {
    const json = jsonSchemaOf(z.object({ name: z.string() }))
    expect(Reflect.ownKeys(json ?? {})).toEqual(Object.keys(json ?? {}))
    expect(() => encode(json, 'schema')).not.toThrow()
  })

  test('removes patterns without their flags from the JSON Schema of arktype', () => {
    const code = { domain: 'string', pattern: [{ flags: 'i', rule: '^[a-z]+$' }] }
    const digits = { domain: 'string', pattern: [{ flags: '', rule: '^\\d+$', meta: 'digits' }] }
    const json = {
      required: [
        { key: 'code', value: code },
        { key: 'digits', value: digits },
      ],
      index: [{ signature: { domain: 'string', pattern: [{ flags: 'u', rule: '^x' }] }, value: 'number' }],
    }
    const written = {
      type: 'object',
      properties: {
        code: { type: 'string', pattern: '^[a-z]+$' },
        digits: { type: 'string', pattern: '^\\d+$' },
      },
      patternProperties: { '^x': { type: 'number' } },
      additionalProperties: false,
    }
    const schema = foreignSchema((value) => ({ value }), { input: () => written }, 'arktype')
    expect(jsonSchemaOf(Object.assign(() => {}, schema, { json }))).toEqual({
      type: 'object',
      properties: { code: { type: 'string' }, digits: { type: 'string', pattern: '^\\d+$' } },
    })
    expect(jsonSchemaOf(schema)).toEqual(written)
  })

  test('returns no JSON Schema if the vendor has none or cannot express the schema', () => {
    expect(jsonSchemaOf(foreignSchema(() => ({ value: 1 })))).toBeUndefined()
    const unable = {
      input: () => {
        throw new Error('cannot')
      },
    }
    expect(jsonSchemaOf(foreignSchema(() => ({ value: 1 }), unable))).toBeUndefined()
  })
})

describe('a schema that transforms', () => {
  const length = z.string().transform((text) => text.length)

  test.each([
    ['a transform', length],
    ['one deep inside', z.object({ a: z.array(z.union([z.string(), length])) })],
    ['one in a map', z.map(z.string(), length)],
    ['one in a set', z.set(length)],
    ['one behind a lazy', z.lazy(() => length)],
    ['one in the middle of a pipe', length.pipe(z.number())],
    ['one under a default', length.default(0).optional()],
    ['one beside what JSON cannot say', z.object({ on: z.date(), a: length })],
    ['a codec', z.stringbool()],
    [
      'a codec of one type',
      z.codec(z.string(), z.string(), { decode: (text) => text, encode: (text) => text }),
    ],
    ['a preprocessing', z.preprocess(Number, z.number())],
    ['a custom check, then a transform', z.custom(() => true).transform(() => 2)],
    ['a tuple rest', z.tuple([z.string()]).rest(length)],
    ['a record value', z.record(z.string(), length)],
    ['a catchall', z.object({}).catchall(length)],
  ])('detects a schema that transforms: %s', (_, schema) => {
    expect(isTransforming(schema)).toBe(true)
  })

  interface Tree {
    readonly children: readonly Tree[]
  }
  const tree: z.ZodType<Tree> = z.object({ children: z.lazy(() => z.array(tree)) })

  test.each([
    ['plain types', z.object({ a: z.string(), b: z.array(z.number()), c: z.enum(['x']), d: z.literal(1) })],
    ['void', z.void()],
    ['anything', z.any()],
    ['defaults', z.object({ a: z.string().default('x'), b: z.number().prefault(1) })],
    ['trimming and lower case', z.string().trim().toLowerCase()],
    [
      'checks',
      z
        .string()
        .min(1)
        .refine(() => true),
    ],
    ['coercion', z.coerce.number()],
    [
      'dates, maps and sets',
      z.object({ a: z.date(), b: z.map(z.string(), z.number()), c: z.set(z.bigint()) }),
    ],
    ['a recursive type', tree],
    ['brands and readonly', z.object({ a: z.string().brand('Id') }).readonly()],
    [
      'a discriminated union',
      z.discriminatedUnion('k', [z.object({ k: z.literal('a') }), z.object({ k: z.literal('b') })]),
    ],
    ['a pipe of checks', z.string().pipe(z.string().min(1))],
  ])('detects no transformation in %s', (_, schema) => {
    expect(isTransforming(schema)).toBe(false)
  })

  test('searches for transformations without calling the author’s defaults', () => {
    const calls: number[] = []
    isTransforming(z.object({ a: z.string().default(() => `${calls.push(1)}`) }))
    expect(calls).toEqual([])
  })

  const assess = (input: object, output: object): boolean =>
    isTransforming(foreignSchema((value) => ({ value }), { input: () => input, output: () => output }))
  const string = { type: 'string' }
  const trimmed = { type: 'string', pattern: '^\\S*$' }
  const object = (properties: object, more: object = {}) => ({ type: 'object', properties, ...more })
  const node = (name: string, value: object) => ({
    $ref: `#/$defs/${name}`,
    $defs: { [name]: object({ value, next: { $ref: `#/$defs/${name}` } }) },
  })

  test.each<[string, object, object]>([
    ['the same', string, string],
    ['nothing that JSON can say', {}, {}],
    [
      'a default',
      object({ a: { type: 'string', default: 'x' } }),
      object({ a: string }, { required: ['a'], additionalProperties: false }),
    ],
    ['properties in another order', object({ z: string, a: trimmed }), object({ a: trimmed, z: string })],
    ['words in another order', { type: 'string', minLength: 1 }, { minLength: 1, type: 'string' }],
    ['a trimmed member', object({ a: string }), object({ a: trimmed })],
    ['trimmed items', { type: 'array', items: string }, { type: 'array', items: trimmed }],
    ['a trimmed place', { prefixItems: [string, {}] }, { prefixItems: [trimmed, {}] }],
    ['a rounded number', { type: 'number' }, { type: 'integer' }],
    [
      'a trimmed one of several, in another order',
      { anyOf: [{ type: 'null' }, string] },
      { anyOf: [trimmed, { type: 'null' }] },
    ],
    ['a property that is taken as unknown', object({ a: string }), object({ a: string, b: string })],
    [
      'one of any names',
      object({}, { additionalProperties: string }),
      object({ b: trimmed }, { additionalProperties: string }),
    ],
    ['properties with the names of words', object({ default: string }), object({ default: trimmed })],
    ['what leads to itself', node('a', string), node('b', trimmed)],
    [
      'what has a name that is written otherwise',
      { $ref: '#/$defs/a~1b', $defs: { 'a/b': string } },
      { $ref: '#/$defs/a~1b', $defs: { 'a/b': trimmed } },
    ],
    ['the same, said elsewhere', { $ref: 'https://example.org/s' }, { $ref: 'https://example.org/s' }],
  ])('detects no transformation if a vendor’s output is valid input: %s', (_, input, output) => {
    expect(assess(input, output)).toBe(false)
  })

  test.each<[string, object, object]>([
    ['another type', string, { type: 'number' }],
    ['what JSON cannot say', string, {}],
    ['made of what JSON cannot say', {}, string],
    ['less', trimmed, string],
    ['another pattern', trimmed, { type: 'string', pattern: '^x' }],
    ['another member', object({ a: string }), object({ a: { type: 'number' } })],
    ['a member less', object({ a: string, b: string }), object({ a: string })],
    ['a member called as a word', object({ default: string }), object({ default: {} })],
    [
      'a member more where no others are taken',
      object({ a: string }, { additionalProperties: false }),
      object({ a: string, b: string }, { additionalProperties: false }),
    ],
    ['places that are swapped', { prefixItems: [string, {}] }, { prefixItems: [{}, string] }],
    ['another of several', { enum: ['a', 'b'] }, { enum: ['a', 'c'] }],
    ['yes for no', { enum: [true] }, { enum: [false] }],
    ['one of several', { anyOf: [string, { type: 'number' }] }, { type: 'number' }],
    ['what leads to itself', node('a', string), node('b', { type: 'number' })],
  ])('detects a transformation if a vendor’s output differs from its input: %s', (_, input, output) => {
    expect(assess(input, output)).toBe(true)
  })

  test('detects no transformation without the vendor’s JSON Schema', () => {
    expect(isTransforming(foreignSchema((value) => ({ value })))).toBe(false)
  })
})

describe('code of the author', () => {
  const node: Schema = z.object({
    value: z.number(),
    get children() {
      return z.array(node as z.ZodType)
    },
  })

  test.each<[string, Schema]>([
    ['a number within bounds', z.number().positive().max(9)],
    ['a text with a length and a pattern', z.string().min(1).regex(/a/)],
    ['an object', z.strictObject({ a: z.email().optional(), b: z.enum(['x', 'y']).nullable() })],
    ['a union of lists', z.union([z.array(z.literal('a')), z.record(z.string(), z.date())])],
    ['a type that holds itself', node],
    ['a text of zod mini', mini.string().check(mini.minLength(1))],
  ])('finds no code of the author in %s', (_, schema) => {
    expect(mayRunCode(schema)).toBe(false)
  })

  const inAnObject = (part: z.ZodType): Schema => z.object({ list: z.array(z.object({ part })) })
  test.each<[string, Schema]>([
    ['refine', inAnObject(z.string().refine(() => true))],
    ['check', inAnObject(z.string().check(() => {}))],
    ['superRefine', inAnObject(z.string().superRefine(() => {}))],
    ['custom', inAnObject(z.custom(() => true))],
    ['overwrite', inAnObject(z.string().overwrite((text) => text))],
    ['transform', inAnObject(z.string().transform((text) => text))],
    ['preprocess', inAnObject(z.preprocess((value) => value, z.string()))],
    ['codec', inAnObject(z.codec(z.string(), z.string(), { decode: (a) => a, encode: (a) => a }))],
    ['a promise', inAnObject(z.promise(z.string()))],
    ['catch', inAnObject(z.string().catch(() => 'x'))],
    ['a default', inAnObject(z.string().default(() => 'x'))],
    ['prefault', inAnObject(z.string().prefault(() => 'x'))],
    ['a message', inAnObject(z.string({ error: () => 'no text' }))],
    ['a format of its own', inAnObject(z.stringFormat('sku', () => true))],
    ['refine behind lazy', inAnObject(z.lazy(() => z.string()).refine(() => true))],
    ['refine behind json', inAnObject(z.json().refine(() => true))],
    ['a check of zod mini', mini.string().check(mini.refine(() => true))],
    ['a plain function of zod mini', mini.string().check(() => {})],
    ['what another library makes', foreignSchema((value) => ({ value }))],
    [
      'what cannot be looked at yet',
      z.lazy(() => {
        throw new Error('not there yet')
      }),
    ],
  ])('finds the author’s code in %s', (_, schema) => {
    expect(mayRunCode(schema)).toBe(true)
  })
})
