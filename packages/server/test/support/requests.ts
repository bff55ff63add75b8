import fc from 'fast-check'
import { z } from 'zod'
import type { Route } from '../../src/routes/route.ts'

/** A request to a route: mostly what its schemas allow, sometimes anything. */
export interface Fuzzed {
  readonly route: Route
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

type JsonSchema = { readonly [key: string]: unknown }

/** Ids of the scene that the requests are sent to, so that many of them find something. */
export interface Ids {
  readonly asks: readonly string[]
  readonly runs: readonly string[]
  readonly checkpoints: readonly string[]
}

export function requestsTo(routes: readonly Route[], ids: Ids): fc.Arbitrary<Fuzzed> {
  return fc.constantFrom(...routes).chain((route) =>
    fc.record({
      route: fc.constant(route),
      path: pathOf(route, ids),
      body: route.body === null ? fc.constant(undefined) : bodyOf(route.body, ids),
      headers: fc.oneof(
        { weight: 4, arbitrary: fc.constant({}) },
        {
          weight: 1,
          arbitrary: fc.constantFrom('key:1', 'x'.repeat(300)).map((key) => ({ 'idempotency-key': key })),
        },
      ),
    }),
  )
}

function pathOf(route: Route, ids: Ids): fc.Arbitrary<string> {
  const params = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const query = valuesOf(jsonSchema(route.query), ids).map(writeQuery)
  return fc.tuple(fc.tuple(...params.map((name) => param(name, ids))), query).map(([values, search]) => {
    const filled = values.reduce((path, value) => path.replace(/\{\w+\}/, () => value), route.path as string)
    return `/v1${filled}${search}`
  })
}

function param(name: string, ids: Ids): fc.Arbitrary<string> {
  const known = { ask: ids.asks, run: ids.runs, checkpoint: ids.checkpoints }[name] ?? ['approve', 'paid']
  return fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...known).map(encodeURIComponent) },
    { weight: 1, arbitrary: fc.string({ minLength: 1, unit: 'binary' }).map(encode) },
    {
      weight: 1,
      arbitrary: fc.constantFrom('~', '~!', '%E0%A4', '%00', `~${'A'.repeat(400)}`, 'x'.repeat(201)),
    },
  )
}

/** Lone surrogates cannot be in a URL. */
function encode(text: string): string {
  return encodeURIComponent(Buffer.from(text).toString('utf8'))
}

function writeQuery(query: unknown): string {
  if (typeof query !== 'object' || query === null) return ''
  const entries = Object.entries(query).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return entries.length === 0
    ? ''
    : `?${new URLSearchParams(Object.fromEntries(entries) as Record<string, string>)}`
}

function bodyOf(schema: z.ZodType, ids: Ids): fc.Arbitrary<unknown> {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  return fc.oneof(
    { weight: 12, arbitrary: valuesOf(jsonSchema(schema), ids) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom('', '{', deep, `{"payload":${deep}}`, '{"__proto__":{"a":1}}') },
  )
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as JsonSchema
}

function valuesOf(root: JsonSchema, ids: Ids): fc.Arbitrary<unknown> {
  return valueOf(root, root, ids)
}

function valueOf(schema: JsonSchema, root: JsonSchema, ids: Ids): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 15, arbitrary: allowed(schema, root, ids) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
}

function allowed(schema: JsonSchema, root: JsonSchema, ids: Ids): fc.Arbitrary<unknown> {
  const { $ref, enum: values, const: only, anyOf, type, properties, required = [], items, pattern } = schema
  if (typeof $ref === 'string') return allowed(resolve(root, $ref), root, ids)
  if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]))
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one: JsonSchema) => valueOf(one, root, ids)))
  switch (type) {
    case 'string':
      return strings(pattern, ids)
    case 'integer':
    case 'number':
      return fc.oneof(fc.integer({ min: -1, max: 600 }), fc.double())
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueOf((items ?? {}) as JsonSchema, root, ids), { maxLength: 4 })
    case 'object': {
      const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
      return fc.record(
        Object.fromEntries(members.map(([name, member]) => [name, memberOf(name, member, root, ids)])),
        { requiredKeys: required as string[] },
      )
    }
    default:
      return fc.oneof(fc.jsonValue(), payloads)
  }
}

/** A member by its name, so that many requests are about things that exist. */
function memberOf(name: string, schema: JsonSchema, root: JsonSchema, ids: Ids): fc.Arbitrary<unknown> {
  const value = valueOf(schema, root, ids)
  const known: Readonly<Record<string, readonly unknown[]>> = {
    checkpoint: ids.asks,
    run: ids.runs,
    procedure: ['refund'],
    input: [{ amount: 1 }],
    decision: ['approve', 'reject'],
    params: [{ amount: 40 }],
    as: ['user:bob'],
  }
  const usual = known[name]
  return usual === undefined
    ? value
    : fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: value })
}

function resolve(root: JsonSchema, ref: string): JsonSchema {
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((part, key) => (part as JsonSchema)[key], root) as JsonSchema
}

function strings(pattern: unknown, ids: Ids): fc.Arbitrary<string> {
  if (typeof pattern === 'string' && pattern.includes('ms'))
    return fc.constantFrom('1ms', '5ms', '0s', '61s', '9')
  return fc.oneof(
    fc.constantFrom(
      ...ids.asks,
      ...ids.runs,
      'refund',
      'running,waiting',
      'user:bob',
      'group:support',
      'approve',
    ),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'x'.repeat(201), '\u0000', '__proto__'),
  )
}

/** Values of types that JSON does not have, and what looks like them. */
const payloads: fc.Arbitrary<unknown> = fc.record({
  $pawl: fc.constantFrom(
    'bigint',
    'date',
    'map',
    'set',
    'bytes',
    'undefined',
    'object',
    'number',
    'function',
    1,
  ),
  value: fc.oneof(fc.jsonValue(), fc.constantFrom('12', 'NaN', '2026-11-24T00:00:00Z', [[1, 2]], 'AAA=')),
})
