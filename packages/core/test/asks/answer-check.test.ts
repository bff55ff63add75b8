import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { checkAnswer } from '../../src/asks/answer-check.ts'
import type { AskPayload } from '../../src/events/payloads.ts'
import { isOptional, jsonSchemaOf, type Schema, validate } from '../../src/schemas/schema.ts'

/** A question as it is pinned: what a process that has not the schema checks answers by. */
function askFor(schema: Schema): AskPayload {
  const json = jsonSchemaOf(schema)
  return {
    ...{ kind: 'input', message: '?', silence: { do: 'keep-waiting' } },
    ...(json === undefined ? {} : { schema: json }),
    ...(isOptional(schema) ? { optional: true } : {}),
  }
}

function listOf(value: z.ZodType): z.ZodType {
  return z.array(z.object({ a: value }).optional())
}

describe('accepts values valid for a schema by its JSON Schema alone', () => {
  const trimmed = z.string().trim()
  const sets = 'v'
  const faces = new RegExp('^\\p{RGI_Emoji}$', sets)
  const accepted: readonly (readonly [what: string, schema: z.ZodType, value: unknown])[] = [
    ['cents', z.number().multipleOf(0.01), 19.99],
    ['many cents', z.number().multipleOf(0.01), 123456789.01],
    ['tenths in a list', z.array(z.number().multipleOf(0.1)), [0.3, 0.7]],
    ['what is short once it is trimmed', trimmed.max(5), '  abc  '],
    ['what was short before it was trimmed', z.string().max(9).trim().min(1), '  abc  '],
    ['an address between blanks', trimmed.email(), ' ana@example.org '],
    [
      'what fits in lower case',
      z
        .string()
        .toLowerCase()
        .regex(/^[a-z]+$/),
      'ABC',
    ],
    ['what fits whatever its case', z.string().regex(/^ab$/i), 'AB'],
    ['two patterns, one with a flag', z.string().regex(/^ab$/i).regex(/./), 'AB'],
    ['lines', z.string().regex(/^b$/m), 'a\nb'],
    ['a trimmed member', z.object({ name: trimmed.min(1).max(3) }), { name: ' Ada ' }],
    ['a trimmed key', z.record(trimmed.max(2), z.number()), { ' a ': 1 }],
    ['keys that are numbers', z.record(z.number(), z.string()), { 1: 'a' }],
    ['keys that are some numbers', z.record(z.literal([1, 2]), z.string()), { 1: 'a', 2: 'b' }],
    ['a missing key with a coerced value', z.record(z.enum(['a', 'b']), z.coerce.boolean()), { a: true }],
    ['a missing key with a fallback', z.record(z.enum(['a', 'b']), z.number().catch(0)), { a: 1 }],
    ['what is rounded first', z.number().overwrite(Math.round).int(), 1.5],
    ['a rounded number', z.number().overwrite(Math.round).multipleOf(2), 1.6],
    ['a pattern with unnecessary escapes', z.string().regex(/^\d{3}-\d{4}$/), '123-4567'],
    ['a class with a dash', z.string().regex(/^[\w-.]+$/), 'a.b-c'],
    ['a pattern of properties', z.string().regex(/^\p{L}+$/u), 'é'],
    ['any JSON', z.json(), { a: [1, { b: null }] }],
    ['nothing where it is optional', z.string().optional(), undefined],
    ['nothing where there is a default', z.string().default('x'), undefined],
    ['nothing where there is a value to begin with', z.string().prefault('x'), undefined],
    ['nothing as one of two', z.union([z.string(), z.undefined()]).nullable(), undefined],
    ['a big literal', z.literal([5n, 'x']), 5n],
    ['a member that is nothing', z.object({ a: z.undefined() }), { a: undefined }],
    ['a member that is anything', z.object({ a: z.any(), b: z.unknown() }), { a: undefined, b: undefined }],
    ['a number as text', z.coerce.number(), '5'],
    ['anything where there is something to fall back on', z.number().catch(0), 'none'],
    ['a face of two units', z.string().max(1), '\u{1F600}'],
    ['two units as two characters', z.string().regex(/^..$/), '\u{1F600}'],
    ['a set of faces', z.string().regex(faces), '\u{1F600}'],
    ['one of two, where both seem to fit', z.xor([z.date(), z.string()]), 'x'],
    [
      'what is told apart by a big number',
      z.discriminatedUnion('n', [z.object({ n: z.literal(1n) }), z.object({ n: z.literal(2n) })]),
      { n: 2n },
    ],
    ['what is no number', z.literal([Number.POSITIVE_INFINITY, 'x']), Number.POSITIVE_INFINITY],
    [
      'a member that may be nothing by itself',
      z.object({ a: z.literal([undefined, 'x']), b: z.custom(() => true), c: z.string().catch('') }),
      { a: undefined, b: undefined, c: undefined },
    ],
    ['a type that is read-only and optional', z.object({ a: z.string().optional().readonly() }), {}],
    ['a type that leads to itself', z.object({ a: z.lazy(() => z.string().optional()) }), {}],
    ['a list with nothing at a place', z.array(z.string().optional()), ['a', undefined]],
    [
      'a record with nothing under a key',
      z.record(z.string(), z.number().optional()),
      { a: 1, b: undefined },
    ],
    ['a tuple with nothing at its end', z.tuple([z.string(), z.string().optional()]), ['a', undefined]],
    [
      'one of two lists, with nothing',
      z.union([listOf(z.string()), listOf(z.number())]),
      [{ a: 1 }, undefined],
    ],
    [
      'one of two that both miss what is nothing',
      z.union([z.object({ a: z.string() }), z.record(z.string(), z.string().optional())]),
      { a: undefined },
    ],
    [
      'one of two, deep inside',
      z.object({ a: z.array(z.union([z.number(), z.object({ b: z.array(z.null().optional()) })])) }),
      { a: [1, { b: [undefined, null] }] },
    ],
  ]

  test.each(accepted)('accepts by JSON Schema alone: %s', (_, schema, value) => {
    expect(validate(schema, value)).toMatchObject({ ok: true })
    expect(checkAnswer(askFor(schema), { value })).toMatchObject({ ok: true, answer: { value } })
  })
})

const oneOfTwo = z.union([
  z.object({ kind: z.literal('a'), amount: z.number(), list: z.array(z.string().optional()) }),
  z.object({ kind: z.literal('b'), list: z.array(z.number()) }),
])

test('rejects values invalid for a schema by its JSON Schema alone', () => {
  const refused: readonly (readonly [z.ZodType, unknown])[] = [
    [z.number(), Number.NaN],
    [z.number().multipleOf(0.01), 19.995],
    [z.string().trim(), 5],
    [z.string().regex(/^a$/), 'A'],
    [z.object({ a: z.string(), b: z.any() }), { b: 1 }],
    [z.string(), undefined],
    [z.json(), undefined],
    [z.object({ a: z.string() }), { a: undefined }],
    [z.object({ a: z.string(), b: z.array(z.string().optional()) }), { b: [undefined] }],
    [z.object({ a: z.string(), b: z.array(z.string().optional()) }), { a: 1, b: [undefined] }],
    [z.array(z.string().optional()), ['a', undefined, 1]],
    [z.array(z.union([z.string(), z.number()]).optional()), [undefined, true]],
    [z.strictObject({ a: z.string().optional() }), { a: undefined, b: 1 }],
    [z.object({ a: z.string(), b: z.array(z.string()) }).nullable(), { a: 1, b: [undefined] }],
    [z.object({ a: z.string(), b: z.array(z.string()) }).nullable(), { b: [undefined] }],
    [z.strictObject({ b: z.array(z.string().optional()) }).nullable(), { b: [undefined], c: 1 }],
    [z.object({ a: z.string() }).catchall(z.string().optional()).nullable(), { c: undefined }],
    [oneOfTwo, { kind: 'a', list: [undefined], amount: 'many' }],
    [oneOfTwo, { kind: 'c', list: [undefined] }],
    [z.string().min(2), 'a'],
    [z.string().max(2), 'abc'],
  ]
  for (const [schema, value] of refused) {
    expect(validate(schema, value)).toMatchObject({ ok: false })
    expect(checkAnswer(askFor(schema), { value })).toMatchObject({ ok: false })
  }
})

describe('measures text by units or characters, whichever a library counts', () => {
  const face = '\u{1F600}'

  test.each([
    ['two units reach the minimum', { minLength: 2 }, face],
    ['one character is within the maximum', { maxLength: 1 }, face],
    ['both hold', { minLength: 2, maxLength: 2 }, face],
  ])('accepts text if %s', (_, words, value) => {
    const ask = { ...askFor(z.any()), schema: { type: 'string', ...words } }
    expect(checkAnswer(ask, { value })).toMatchObject({ ok: true })
  })

  test('rejects text that is too short or too long in both measures, with a reason', () => {
    const ask = { ...askFor(z.any()), schema: { type: 'string', minLength: 3, maxLength: 4 } }
    const refusal = (message: string) => ({ ok: false, issues: [{ path: 'value', message }] })
    expect(checkAnswer(ask, { value: face })).toEqual(refusal('must not have fewer than 3 characters'))
    expect(checkAnswer(ask, { value: face.repeat(5) })).toEqual(
      refusal('must not have more than 4 characters'),
    )
  })
})

test('accepts any value for a recursive JSON Schema without a base case', () => {
  const schema = { anyOf: [{ type: 'string' }, { $ref: '#' }] }
  expect(checkAnswer({ ...askFor(z.any()), schema }, { value: 5 })).toMatchObject({ ok: true })
})

test('accepts any value for an invalid JSON Schema, which the schema itself checks', () => {
  const strange = [
    { type: 'nonsense' },
    { $ref: 'https://example.org/x' },
    { pattern: '(' },
    { $id: 'a' },
    { $id: 'a' },
  ]
  const draft = { $schema: 'http://json-schema.org/draft-07/schema#' }
  for (const schema of [...strange, draft])
    expect(checkAnswer({ ...askFor(z.any()), schema }, { value: 1 })).toMatchObject({ ok: true })
})

test('evicts schemas that were not used recently, and compiles them again when needed', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const answer = (n: number) => {
    const schema = { type: 'object', properties: { amount: { maximum: n } } }
    const ask = { kind: 'input', message: 'How much?', silence: { do: 'keep-waiting' }, schema } as const
    expect(checkAnswer(ask, { value: { amount: n } }).ok).toBe(true)
    expect(checkAnswer(ask, { value: { amount: n + 1 } }).ok).toBe(false)
    return new WeakRef(schema)
  }
  const first = answer(0)
  for (let n = 1; n <= 250; n++) answer(n)
  // What a weak reference was made to lives until the turn is over.
  await new Promise((resolve) => setImmediate(resolve))
  collect()
  expect(first.deref()).toBeUndefined()
  answer(0)
})
