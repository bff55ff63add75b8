import { controlOf, controlOfValue, propertyControl } from '@pawl/core/json-schema'
import type { Json, JsonObject } from '@pawl/server/internal'
import { Ajv2020 as Ajv } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { referringSchemas } from '../../../test/support/referring-schemas.ts'
import { draftOf } from '../src/form/draft.ts'
import { readDraft } from '../src/form/read.ts'

/** A schema of the subset that has controls, with a value that a person could enter. */
interface Sample {
  readonly schema: JsonObject
  readonly value: Json
}

const words = fc.string({ minLength: 1, maxLength: 8 }).filter((text) => text !== '__proto__')
const numbers = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((one) => one + 0),
)

const scalar: fc.Arbitrary<Sample> = fc.oneof(
  words.map((value) => ({ schema: { type: 'string', minLength: 1 }, value })),
  fc
    .string({ minLength: 121, maxLength: 200 })
    .map((value) => ({ schema: { type: 'string', maxLength: 200 }, value })),
  numbers.map((value) => ({ schema: { type: 'number', minimum: value }, value })),
  fc
    .integer({ min: -5, max: 5 })
    .map((value) => ({ schema: { type: 'integer', minimum: -5, maximum: 5 }, value })),
  fc.boolean().map((value) => ({ schema: { type: 'boolean' }, value })),
  words.map((value) => ({ schema: { const: value }, value })),
  fc
    .uniqueArray(fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null)), {
      minLength: 1,
      maxLength: 9,
    })
    .chain((values) => fc.constantFrom(...values).map((value) => ({ schema: { enum: values }, value }))),
  fc.uniqueArray(words, { minLength: 2, maxLength: 4 }).chain((values) =>
    fc.constantFrom(...values).map((value) => ({
      schema: { anyOf: values.map((one) => ({ const: one, title: `${one}!` })) },
      value,
    })),
  ),
  fc
    .uniqueArray(words, { minLength: 2, maxLength: 6 })
    .chain((values) =>
      fc.subarray(values).map((value) => ({ schema: { type: 'array', items: { enum: values } }, value })),
    ),
)

const { sample } = fc.letrec<{ sample: Sample; object: Sample }>((tie) => ({
  object: fc
    .uniqueArray(fc.tuple(words, tie('sample'), fc.boolean(), fc.boolean()), {
      selector: ([name]) => name,
      maxLength: 4,
    })
    .map((fields) => ({
      schema: {
        type: 'object',
        properties: Object.fromEntries(fields.map(([name, part]) => [name, part.schema])),
        required: fields.flatMap(([name, , isRequired]) => (isRequired ? [name] : [])),
        additionalProperties: false,
      },
      value: Object.fromEntries(
        fields.flatMap(([name, part, isRequired, isThere]) =>
          isRequired || isThere ? [[name, part.value]] : [],
        ),
      ),
    })),
  sample: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    tie('object'),
    fc.tuple(tie('sample'), fc.nat(3)).map(([item, count]) => ({
      schema: { type: 'array', items: item.schema, maxItems: 3 },
      value: Array.from({ length: count }, () => item.value),
    })),
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map((items) => ({
      schema: {
        type: 'array',
        prefixItems: items.map(({ schema }) => schema),
        items: false,
        minItems: items.length,
      },
      value: items.map(({ value }) => value),
    })),
    fc.tuple(tie('sample'), fc.uniqueArray(words, { maxLength: 3 })).map(([item, keys]) => ({
      schema: { type: 'object', additionalProperties: item.schema },
      value: Object.fromEntries(keys.map((key) => [key, item.value])),
    })),
    fc.tuple(tie('sample'), fc.boolean()).map(([inner, isNull]) => ({
      schema: { anyOf: [inner.schema, { type: 'null' }] },
      value: isNull ? null : inner.value,
    })),
    fc.tuple(tie('sample'), tie('sample'), fc.boolean()).map(([one, other, isFirst]) => {
      const variant = (kind: string, { schema }: Sample) => ({
        type: 'object',
        properties: { kind: { const: kind }, data: schema },
        required: ['kind', 'data'],
      })
      return {
        schema: { oneOf: [variant('a', one), variant('b', other)] },
        value: isFirst ? { kind: 'a', data: one.value } : { kind: 'b', data: other.value },
      }
    }),
  ),
}))

const ajv = new Ajv({ strict: false, validateSchema: false, logger: false, ownProperties: true })

describe('a form from a JSON Schema', () => {
  test('a form sends what its JSON Schema accepts, for a thousand schemas and values', () => {
    fc.assert(
      fc.property(sample, ({ schema, value }) => {
        const isValid = ajv.compile(schema)
        fc.pre(isValid(value))
        const control = controlOf(schema)
        const read = readDraft(control, draftOf(control, value), 'value', true)
        expect(read.issues).toEqual([])
        if (!isValid(read.value)) throw new Error(JSON.stringify({ schema, value, read }))
      }),
      { numRuns: 1_000 },
    )
  })

  test('an empty form sends nothing, or what its JSON Schema accepts', () => {
    fc.assert(
      fc.property(sample, ({ schema }) => {
        const control = controlOf(schema)
        const read = readDraft(control, draftOf(control), 'value', true)
        // What a list lacks, or a text, is said by the server: a form that is empty may not make values up.
        if (read.issues.length === 0 && control.kind === 'object' && read.value !== undefined)
          expect(typeof read.value).toBe('object')
      }),
      { numRuns: 300 },
    )
  })

  test.each([
    ['12.5', 12.5],
    ['-0.10', -0.1],
    ['1e3', 1000],
    ['450', 450],
  ])('reads the number %s', (text, value) => {
    expect(readDraft({ kind: 'number', isInteger: false }, text, 'n', true)).toEqual({ value, issues: [] })
  })

  test.each(['9007199254740993', '0.1000000000000000055', '4,5', '0x10', '1e999', 'Infinity', '--1', ''])(
    'refuses %s as a number, and never rounds',
    (text) => {
      expect(readDraft({ kind: 'number', isInteger: false }, text, 'n', true)).toMatchObject({
        value: undefined,
        issues: [{ path: 'n' }],
      })
    },
  )

  test('a form omits optional parts that are empty', () => {
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        age: { type: 'number' },
        address: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
      required: ['name'],
    }
    const control = controlOf(schema)
    const draft = { fields: { name: 'Ada', age: '', address: { fields: { city: '' } } } }
    expect(readDraft(control, draft, 'value', true)).toEqual({ value: { name: 'Ada' }, issues: [] })
  })

  test('a form opens recursive schemas on demand', () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, parent: { $ref: '#' } },
      required: ['name'],
    }
    const control = controlOf(schema)
    const value = { name: 'a', parent: { name: 'b' } }
    expect(draftOf(control)).toEqual({ fields: { name: '', parent: null } })
    expect(readDraft(control, draftOf(control, value), 'value', true).value).toEqual(value)
  })

  const node = (next: JsonObject, more: JsonObject = {}): JsonObject => ({
    $ref: '#/$defs/node',
    $defs: {
      node: {
        type: 'object',
        properties: { name: { type: 'string' }, next },
        required: ['name', 'next'],
        ...more,
      },
    },
  })

  test('what may be null begins so if it contains itself, and opens on demand', () => {
    const control = controlOf(node({ anyOf: [{ $ref: '#/$defs/node' }, { type: 'null' }] }))
    const first = draftOf(control)
    expect(first).toEqual({ fields: { name: '', next: { isNull: true, inner: null } } })
    const value = { name: 'a', next: { name: 'b', next: null } }
    expect(readDraft(control, draftOf(control, value), 'value', true)).toEqual({ value, issues: [] })
  })

  const levels = Array.from({ length: 22 }, (_, level) => `l${level}`)
  const doubling = Object.fromEntries(
    levels.map((level, index): [string, Json] => {
      const next = { $ref: `#/$defs/l${index + 1}` }
      return [level, { type: 'object', properties: { a: next, b: next }, required: ['a', 'b'] }]
    }),
  )
  const self: JsonObject = { $ref: '#/$defs/node' }

  test.each<[string, JsonObject]>([
    ['needs itself', node(self)],
    ['is a tuple of itself', node({ type: 'array', prefixItems: [self], items: false })],
    ['is a list of itself', node({ type: 'array', items: self, minItems: 2 })],
    ['has itself as its default', node(self, { required: ['name'], default: { name: 'a' } })],
    ['doubles at 22 levels', { $ref: '#/$defs/l0', $defs: { ...doubling, l22: { type: 'string' } } }],
    [
      'has 100,000 fields',
      {
        type: 'object',
        properties: Object.fromEntries(Array.from({ length: 1e5 }, (_, n) => [`f${n}`, { type: 'string' }])),
      },
    ],
  ])('a part that %s is JSON', (_, schema) => {
    const control = controlOf(schema)
    expect(control.kind).toBe('json')
    expect(readDraft(control, '{"name":"a"}', 'value', true).value).toEqual({ name: 'a' })
    expect(typeof draftOf(control)).toBe('string')
  })

  test('a value of a schema of nothing but itself is JSON at the end', () => {
    const control = controlOf({
      $ref: '#/$defs/a',
      $defs: { a: { anyOf: [{ $ref: '#/$defs/a' }, { type: 'null' }] } },
    })
    expect(readDraft(control, draftOf(control, 5), 'value', true)).toEqual({ value: 5, issues: [] })
  })

  test('a reference with a percent sign that encodes nothing names a part, or is JSON', () => {
    expect(controlOf({ $ref: '#/%zz', '%zz': { type: 'boolean' } }).kind).toBe('boolean')
    expect(controlOf({ $ref: '#/%zz' }).kind).toBe('json')
  })

  test.each(referringSchemas)('shows a part that $name', ({ schema, entry, label, initial, valid }) => {
    const control = propertyControl(schema, 'part') ?? expect.unreachable()
    expect(control.kind).toBe(entry)
    expect(control.title ?? 'part').toBe(label)
    expect(control.initial).toBe(initial)
    for (const part of valid)
      expect(readDraft(control, draftOf(control, part), 'value', true)).toEqual({ value: part, issues: [] })
  })

  test.each([
    [{ allOf: [{ type: 'string' }] }],
    [{ type: 'object', properties: { a: {} }, additionalProperties: { type: 'string' } }],
    [{ not: { type: 'null' } }],
    [true],
    [{ $ref: 'https://other.example/schema' }],
  ])('leaves what has no control to JSON: %j', (schema) => {
    expect(controlOf(schema as Json)).toMatchObject({ kind: 'json' })
  })

  test.each([
    ['text'],
    [12.5],
    [true],
    [{ $pawl: 'bigint', value: '9007199254740993' }],
    [{ $pawl: 'date', value: '2026-01-02T03:04:05.000Z' }],
    [['a', 'b']],
    [{ a: 1, b: { c: ['x'], d: null } }],
    [[1, 'mixed', { a: null }]],
  ])('of a value without a schema returns the value as it was: %j', (value) => {
    const control = controlOfValue(value as Json)
    expect(readDraft(control, draftOf(control, value as Json), 'params.x', true)).toEqual({
      value,
      issues: [],
    })
  })
})
