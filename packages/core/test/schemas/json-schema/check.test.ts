import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { IssueList, type Issues } from '../../../src/base/issues.ts'
import { checkJsonSchema } from '../../../src/schemas/json-schema/check.ts'

function check(schema: object, value: unknown): Issues['issues'] {
  const list = new IssueList()
  checkJsonSchema(schema, value, 'value', list)
  return list.found.issues
}

// ── the same verdicts as ajv

const key = fc.constantFrom('a', 'b', 'c')
const keys = fc.uniqueArray(key, { minLength: 1, maxLength: 2 })
const leaf = fc.constantFrom('x', 'yy', 'zzz', 0, 1, 2.5, -3, true, false, null)
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))
const some = (words: { readonly [word: string]: fc.Arbitrary<unknown> }): fc.Arbitrary<object> =>
  fc.record(words, { requiredKeys: [] })
const type = fc.record({
  type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object', [
    'string',
    'null',
  ]),
})
const limit = fc.integer({ min: -3, max: 3 })

const { schema } = fc.letrec<{ schema: object | boolean }>((tie) => {
  const inner = tie('schema')
  const list = fc.array(inner, { minLength: 1, maxLength: 3 })
  const dictionary = fc.dictionary(key, inner, { maxKeys: 3, noNullPrototype: true })
  const patterns = fc.dictionary(fc.constantFrom('^a', 'b'), inner, { maxKeys: 2, noNullPrototype: true })
  const tagged = fc.record({
    properties: some({
      a: fc.oneof(
        fc.record({ const: leaf }),
        fc.record({ enum: fc.array(leaf, { minLength: 1, maxLength: 2 }) }),
      ),
      b: inner,
    }),
    required: fc.constantFrom([], ['a']),
  })
  const union = fc.array(tagged, { minLength: 3, maxLength: 5 })
  return {
    schema: fc.oneof(
      { depthSize: 'small', maxDepth: 5 },
      fc.constantFrom<object | boolean>(
        true,
        false,
        {},
        { $ref: '#' },
        { $ref: '#/$defs/d' },
        { $ref: '#name' },
      ),
      type,
      some({ const: value }),
      some({ enum: fc.array(value, { minLength: 1, maxLength: 3 }) }),
      some({ minimum: limit, maximum: limit, exclusiveMinimum: limit, exclusiveMaximum: limit }),
      some({ multipleOf: fc.constantFrom(0.5, 1, 2) }),
      some({ minLength: fc.nat(3), maxLength: fc.nat(3), pattern: fc.constantFrom('^x', 'y$', 'z') }),
      some({
        type: fc.constant('object'),
        properties: dictionary,
        required: keys,
        additionalProperties: inner,
      }),
      some({ patternProperties: patterns, additionalProperties: inner, propertyNames: inner }),
      some({ properties: dictionary, minProperties: fc.nat(2), maxProperties: fc.nat(3) }),
      some({ dependentRequired: fc.dictionary(key, keys, { maxKeys: 2, noNullPrototype: true }) }),
      some({ dependentSchemas: dictionary }),
      some({ prefixItems: list, items: inner, minItems: fc.nat(3), maxItems: fc.nat(4) }),
      some({ uniqueItems: fc.boolean() }),
      fc.record({ contains: type, minContains: fc.nat(2), maxContains: fc.nat(3) }),
      some({ allOf: list, anyOf: list }),
      some({ oneOf: list }),
      union.map((anyOf) => ({ anyOf })),
      union.map((oneOf) => ({ oneOf })),
      some({ not: inner }),
      fc.record({ if: type, then: inner, else: inner }),
    ),
  }
})
const document = fc.tuple(schema, schema, schema).map(([root, d, n]) => ({
  ...asObject(root),
  $defs: { d: asObject(d), n: { ...asObject(n), $anchor: 'name' } },
}))

function asObject(schema: object | boolean): object {
  return typeof schema === 'object' ? schema : { allOf: [schema] }
}

test('accepts a value exactly if ajv does', () => {
  let [accepted, refused] = [0, 0]
  const property = fc.property(
    document,
    fc.array(value, { minLength: 1, maxLength: 8 }),
    (schema, values) => {
      const theirs = attempt(() => new Ajv2020(settings).compile(structuredClone(schema)))
      for (const one of values) {
        const fits = attempt(() => theirs?.(one))
        // It does not end: the schema leads back to itself on the same value.
        if (typeof fits !== 'boolean') continue
        expect({ schema, one, fits: check(schema, one).length === 0 }).toEqual({ schema, one, fits })
        if (fits) accepted++
        else refused++
      }
    },
  )
  fc.assert(property, { numRuns: 300 })
  expect(Math.min(accepted, refused)).toBeGreaterThan(100)
})

const settings = { strict: false, validateSchema: false, logger: false, multipleOfPrecision: 4 } as const

function attempt<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch {
    return undefined
  }
}

// ── what ajv gets wrong, or is not asked

describe('parts that no keyword covers', () => {
  const named = { properties: { a: { type: 'number' } } }
  const strict = { unevaluatedProperties: false }
  test.each([
    ['here', { ...named, ...strict }],
    ['by allOf', { allOf: [named], ...strict }],
    ['by $ref', { $ref: '#/$defs/n', $defs: { n: named }, ...strict }],
    ['by a fitting branch', { anyOf: [{ ...named, required: ['a'] }, { required: ['b'] }], ...strict }],
    ['by oneOf', { oneOf: [{ ...named, required: ['a'] }, { required: ['c'] }], ...strict }],
    ['by then', { if: { required: ['a'] }, then: named, ...strict }],
    ['by else', { if: { required: ['c'] }, else: named, ...strict }],
    ['by a pattern', { patternProperties: { '^a$': true }, ...strict }],
    ['by a dependency', { dependentSchemas: { a: named }, ...strict }],
  ])('rejects parts by unevaluatedProperties except the named ones: %s', (_, schema) => {
    expect(check(schema, { a: 1 })).toEqual([])
    expect(check(schema, { a: 1, b: 1 })).toEqual([{ path: 'value.b', message: 'is not expected' }])
  })

  test('checks parts by the schema of unevaluatedProperties', () => {
    const schema = { properties: { a: {} }, unevaluatedProperties: { type: 'string' } }
    expect(check(schema, { a: 1, b: 'x' })).toEqual([])
    expect(check(schema, { b: 1 })).toEqual([{ path: 'value.b', message: 'must be string' }])
  })

  test('rejects parts by unevaluatedItems', () => {
    const schema = { prefixItems: [{}], contains: { type: 'string' }, unevaluatedItems: false }
    expect(check(schema, [1, 'a', 'b'])).toEqual([])
    expect(check(schema, ['a', 1])).toEqual([{ path: 'value[1]', message: 'is not expected' }])
    expect(check({ items: {}, unevaluatedItems: false }, [1])).toEqual([])
  })

  test('treats parts of a mismatched branch as unevaluated', () => {
    const schema = {
      anyOf: [{ properties: { a: { type: 'string' } } }, { properties: { b: {} } }],
      ...strict,
    }
    expect(check(schema, { a: 1 })).toEqual([{ path: 'value.a', message: 'is not expected' }])
  })
})

test('resolves a reference within its resource', () => {
  const inner = { $id: 'inner', $defs: { s: { type: 'string' } }, properties: { a: { $ref: '#/$defs/s' } } }
  const schema = {
    $defs: { inner, s: { type: 'number' } },
    properties: { x: { $ref: 'inner' }, y: { $ref: '#/$defs/s' } },
  }
  expect(check(schema, { x: { a: 'text' }, y: 1 })).toEqual([])
  expect(check(schema, { x: { a: 1 }, y: 'text' }).map(({ path }) => path)).toEqual(['value.x.a', 'value.y'])
  expect(check({ $ref: 'inner#/$defs/s', $defs: { inner } }, 1)).toHaveLength(1)
})

test('ignores unknown and malformed keywords', () => {
  const strange = [
    ...[{ type: 'nonsense' }, { pattern: '(' }, { minimum: '5' }, { required: 'a' }, { enum: 'a' }],
    ...[{ $ref: 'https://example.org/x' }, { $ref: '#/nowhere' }, { $ref: '#/%E0%A4%A' }, { $ref: '#gone' }],
    ...[{ $dynamicRef: '#x' }, { items: [{ type: 'string' }] }, { patternProperties: { '(': false } }],
  ]
  for (const schema of strange) for (const one of [7, [7], { a: 7 }]) expect(check(schema, one)).toEqual([])
})

test('items that are compared at every level are read once', () => {
  let reads = 0
  const leaf = new Proxy(
    { a: 1 },
    {
      ownKeys: (target) => {
        reads++
        return Reflect.ownKeys(target)
      },
    },
  )
  const nest = (levels: number): unknown => (levels === 0 ? leaf : [nest(levels - 1), levels])
  expect(check({ uniqueItems: true, items: { $ref: '#' } }, nest(200))).toEqual([])
  expect(reads).toBeLessThan(10)
})

test('finds equal items in any order of keys, and compares JSON values only', () => {
  const unique = { uniqueItems: true }
  expect(check(unique, [{ a: 1, b: 2 }, 1, { b: 2, a: 1 }])).toEqual([
    { path: 'value', message: 'must not have the same item twice ([0] and [2])' },
  ])
  const date = new Date(0)
  for (const items of [
    [1, '1'],
    [date, date.toJSON()],
    [undefined, undefined],
    [[undefined], [null]],
    [5n, 5n],
  ])
    expect(check(unique, items)).toEqual([])
})

// ── what is said of a union

describe('a value that matches none of several alternatives', () => {
  const kind = (name: string, more: object) => ({
    type: 'object',
    properties: { kind: { type: 'string', const: name }, version: { const: 1 }, ...more },
    required: ['kind', ...Object.keys(more)],
  })
  const payments = {
    anyOf: [kind('card', { number: { type: 'string' } }), kind('cash', {}), kind('iban', {})],
  }
  test.each([
    [
      'has the issues of the one its tag names',
      payments,
      { kind: 'card', number: 5 },
      'value.number',
      'must be string',
    ],
    [
      'is told the tags there are',
      payments,
      { kind: 'coin' },
      'value.kind',
      "must be one of 'card', 'cash', 'iban'",
    ],
    [
      'is told the tags there are if it has none',
      payments,
      {},
      'value.kind',
      "must be one of 'card', 'cash', 'iban'",
    ],
    [
      'has the issues of the one of its type',
      { anyOf: [kind('card', { number: { type: 'string' } }), { type: 'null' }] },
      { kind: 'card' },
      'value.number',
      'is missing',
    ],
    [
      'is told the types there are',
      { anyOf: [{ type: 'string' }, { enum: [1, 2] }, { type: 'null' }] },
      true,
      'value',
      'must be string, 1, 2 or null',
    ],
    [
      'has one issue, with a reason for each, if it cannot be told which is meant',
      { anyOf: [kind('card', {}), { type: 'object', required: ['x'] }, { type: 'object', required: ['y'] }] },
      { kind: 'gone' },
      'value',
      'matches none of 3 alternatives (x: is missing; or y: is missing)',
    ],
    [
      'has one issue if nothing is said of any',
      { anyOf: [{ not: {} }, { minimum: 9 }] },
      1,
      'value',
      expect.stringMatching(/^matches none of 2 alternatives/),
    ],
  ])('reports for a value without a matching alternative: %s', (_, schema, given, path, message) => {
    expect(check(schema, given)).toEqual([{ path, message }])
  })
})

describe.each(['anyOf', 'oneOf', 'allOf'])(
  'a chain of schemas that each refer twice to the next one by %s',
  (word) => {
    let reads = 0
    const counted = (schema: object) =>
      new Proxy(schema, {
        get: (target, name) => {
          reads += 1
          return Reflect.get(target, name)
        },
      })
    const refs = (to: number) => [
      counted({ $ref: `#/$defs/d${to}` }),
      counted({ $ref: `#/$defs/d${to}`, title: 't' }),
    ]
    const chain = (length: number, next: (to: number) => object, last: object): object => {
      const levels = Array.from({ length }, (_, i) => [`d${i}`, counted(next(i + 1))])
      return { $ref: '#/$defs/d0', $defs: Object.fromEntries([...levels, [`d${length}`, last]]) }
    }
    const length = 100

    test.each([1, 'x', { a: 1 }, { a: { b: [] } }])('is checked once for the value %j', (given) => {
      reads = 0
      const found = check(
        chain(length, (to) => ({ [word]: refs(to) }), { type: 'string' }),
        given,
      )
      expect(found.map(({ path }) => path)).toEqual(given === 'x' && word !== 'oneOf' ? [] : ['value'])
      expect(reads).toBeLessThan(200 * length ** 2)
    })

    test('is checked once for each part of a value', () => {
      reads = 0
      const deep = (levels: number): unknown => (levels === 0 ? 1 : { a: deep(levels - 1) })
      const next = (to: number) => ({ properties: { a: { [word]: refs(to) } } })
      expect(check(chain(length, next, { type: 'string' }), deep(length))).not.toEqual([])
      expect(reads).toBeLessThan(200 * length ** 2)
    })
  },
)

test('reports equal values that do not match what a reference refers to, each with its path', () => {
  const schema = { items: { $ref: '#/$defs/a' }, $defs: { a: { $ref: '#/$defs/b' }, b: { type: 'string' } } }
  expect(check(schema, [1, 1, null, null]).map(({ path }) => path)).toEqual(
    [0, 1, 2, 3].map((i) => `value[${i}]`),
  )
})

test('reports several issues, each with its path', () => {
  const schema = {
    type: 'object',
    properties: { a: { type: 'number', minimum: 5 }, l: { type: 'array', items: { enum: ['x'] } } },
    required: ['a', 'b'],
    additionalProperties: false,
    propertyNames: { maxLength: 2 },
  }
  expect(check(schema, { a: 1, l: ['x', 'y'], long: 1 })).toEqual([
    { path: 'value.b', message: 'is missing' },
    { path: 'value.long', message: 'has an invalid name: it must not have more than 2 characters' },
    { path: 'value.a', message: 'must be >= 5' },
    { path: 'value.l[1]', message: "must be one of 'x'" },
    { path: 'value.long', message: 'is not expected' },
  ])
})

test.each<[string, object, object]>([
  ['as one member too many', { maxProperties: 1 }, { a: 1, b: undefined }],
  ['as one member too few', { minProperties: 2 }, { a: 1, b: undefined }],
  [
    'in what an `if` decides about the other members',
    {
      if: { required: ['a'] },
      then: { properties: { a: {}, b: {} } },
      else: { properties: { c: {} } },
      unevaluatedProperties: false,
    },
    { a: undefined, b: 1 },
  ],
])('does not reject undefined %s', (_, schema, value) => {
  expect(check(schema, value)).toEqual([])
})

test('reports that a value matches none of zero alternatives', () => {
  expect(check({ anyOf: [] }, 1)).toEqual([{ path: 'value', message: 'matches none of 0 alternatives' }])
})
