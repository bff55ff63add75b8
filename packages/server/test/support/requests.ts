import fc from 'fast-check'
import { z } from 'zod'
import type { Route } from '../../src/routes/route.ts'
import type { Identity } from '../../src/types.ts'
import { identities } from './server.ts'

/** A request to a route: mostly what its schemas allow, sometimes anything. */
export interface Fuzzed {
  readonly route: Route
  /** Of whom it comes from. */
  readonly token: string
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

type JsonSchema = { readonly [key: string]: unknown }

/** A run of the scene, with what it has. */
export interface Thing {
  readonly run: string
  readonly ask: string
  readonly digest: string
  readonly checkpoint: string
  /** Whether the run has ended. */
  readonly isOver: boolean
}

/** What a request is about, so that its parts fit each other. */
interface About extends Thing {
  /** Who sends it. */
  readonly actor: string
  /** All ids that the scene has. */
  readonly ids: readonly string[]
}

export function requestsTo(routes: readonly Route[], scene: readonly Thing[]): fc.Arbitrary<Fuzzed> {
  const ids = scene.flatMap(({ run, ask, checkpoint }) => [run, ask, checkpoint])
  return fc
    .constantFrom(...routes)
    .chain((route) => fc.tuple(fc.constant(route), callerOf(route), thingFor(route, scene)))
    .chain(([route, [token, { actor }], thing]) => requestTo(route, token, { ...thing, actor, ids }))
}

/** Mostly one whose role may call the route. */
function callerOf({ roles }: Route): fc.Arbitrary<[token: string, identity: Identity]> {
  const callers = Object.entries(identities)
  return usually(
    callers.filter(([, { role }]) => roles.includes(role)),
    fc.constantFrom(...callers),
  )
}

/** Only a run that has ended can be deleted. */
function thingFor({ method, path }: Route, scene: readonly Thing[]): fc.Arbitrary<Thing> {
  const deletesRun = method === 'DELETE' && path === '/runs/{run}'
  return usually(
    scene.filter(({ isOver }) => isOver === deletesRun),
    fc.constantFrom(...scene),
  )
}

function requestTo(route: Route, token: string, about: About): fc.Arbitrary<Fuzzed> {
  return fc.record({
    route: fc.constant(route),
    token: fc.constant(token),
    path: pathOf(route, about),
    body: route.body === null ? fc.constant(undefined) : bodyOf(route.body, about),
    headers: fc.oneof(
      { weight: 4, arbitrary: fc.constant({}) },
      {
        weight: 1,
        arbitrary: fc.constantFrom('key:1', 'x'.repeat(300)).map((key) => ({ 'idempotency-key': key })),
      },
    ),
  })
}

/** One of some values nine times in ten. */
function usually<Value>(values: readonly Value[], other: fc.Arbitrary<Value>): fc.Arbitrary<Value> {
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...values) }, { weight: 1, arbitrary: other })
}

function pathOf(route: Route, about: About): fc.Arbitrary<string> {
  const params = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const query = valuesOf(jsonSchema(route.query), about).map(writeQuery)
  return fc.tuple(fc.tuple(...params.map((name) => param(name, about))), query).map(([values, search]) => {
    const filled = values.reduce((path, value) => path.replace(/\{\w+\}/, () => value), route.path as string)
    return `/v1${filled}${search}`
  })
}

function param(name: string, { run, ask, checkpoint }: About): fc.Arbitrary<string> {
  const known = { ask, run, checkpoint, key: 'approve' }[name] ?? 'paid'
  return usually(
    [encodeURIComponent(known)],
    fc.oneof(
      fc.string({ minLength: 1, unit: 'binary' }).map(encode),
      fc.constantFrom('~', '~!', '%E0%A4', '%00', `~${'A'.repeat(400)}`, 'x'.repeat(201)),
    ),
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

function bodyOf(schema: z.ZodType, about: About): fc.Arbitrary<unknown> {
  const deep = '['.repeat(100_000) + ']'.repeat(100_000)
  return fc.oneof(
    { weight: 20, arbitrary: valuesOf(jsonSchema(schema), about) },
    { weight: 2, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom('', '{', deep, `{"payload":${deep}}`, '{"__proto__":{"a":1}}') },
  )
}

function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', reused: 'inline' }) as JsonSchema
}

function valuesOf(root: JsonSchema, about: About): fc.Arbitrary<unknown> {
  return valueOf(root, root, about)
}

function valueOf(schema: JsonSchema, root: JsonSchema, about: About): fc.Arbitrary<unknown> {
  return fc.oneof(
    { weight: 30, arbitrary: allowed(schema, root, about) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
}

function allowed(schema: JsonSchema, root: JsonSchema, about: About): fc.Arbitrary<unknown> {
  const { $ref, enum: values, const: only, anyOf, type, properties, required = [], items, pattern } = schema
  if ($ref === '#/$defs/Answer') return usually(answers, allowed(resolve(root, $ref), root, about))
  if (typeof $ref === 'string') return allowed(resolve(root, $ref), root, about)
  if (Array.isArray(values)) return fc.constantFrom(...(values as unknown[]))
  if (only !== undefined) return fc.constant(only)
  if (Array.isArray(anyOf)) return fc.oneof(...anyOf.map((one: JsonSchema) => valueOf(one, root, about)))
  switch (type) {
    case 'string':
      return strings(pattern, about)
    case 'integer':
    case 'number':
      return numbers(schema)
    case 'boolean':
      return fc.boolean()
    case 'array':
      return fc.array(valueOf((items ?? {}) as JsonSchema, root, about), { maxLength: 4 })
    case 'object': {
      const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>)
      return membersOf(
        Object.fromEntries(members.map(([name, member]) => [name, memberOf(name, member, root, about)])),
        required as readonly string[],
        Object.keys(usualMembers(about)),
      )
    }
    default:
      return fc.oneof(fc.jsonValue(), payloads)
  }
}

/** An object with the members that it has to have, and often one that has usual values, or some of the others. */
function membersOf(
  members: Readonly<Record<string, fc.Arbitrary<unknown>>>,
  required: readonly string[],
  usual: readonly string[],
): fc.Arbitrary<object> {
  const optional = Object.keys(members).filter((name) => !required.includes(name))
  const likely = optional.filter((name) => usual.includes(name))
  const none = fc.constant<string[]>([])
  const one = likely.length === 0 ? none : fc.constantFrom(...likely).map((name) => [name])
  const added = fc.oneof(
    { weight: 1, arbitrary: none },
    { weight: 2, arbitrary: one },
    { weight: 1, arbitrary: fc.subarray(optional) },
  )
  return added.chain((names) => {
    const chosen = [...required, ...names]
    return fc.record(Object.fromEntries(Object.entries(members).filter(([name]) => chosen.includes(name))))
  })
}

const answers = [{ approved: true }, { approved: true, params: { amount: 40 } }, { approved: false }]

/** Values of members by their names, so that many requests are about things that exist. */
function usualMembers(about: About): { readonly [name: string]: readonly unknown[] } {
  const { run, ask, digest, actor } = about
  return {
    run: [run],
    runs: [[run]],
    asks: [[ask], [{ id: ask, digest }]],
    notices: [['1', '2']],
    checkpoint: [ask],
    digest: [digest],
    position: [0],
    procedure: ['refund'],
    input: [{ amount: 1 }],
    resolution: [{ decision: 'approve' }, { approved: false }],
    decision: ['approve', 'reject'],
    params: [{ amount: 40 }],
    as: [actor, 'user:bob'],
    to: ['group:support'],
    only: ['ask.opened,run.ended'],
    timeout: ['1h'],
    olderThan: ['24h'],
    keep: [1],
    onlyFinished: [true],
  }
}

function memberOf(name: string, schema: JsonSchema, root: JsonSchema, about: About): fc.Arbitrary<unknown> {
  const value = valueOf(schema, root, about)
  const usual = usualMembers(about)[name]
  return usual === undefined ? value : usually(usual, value)
}

function resolve(root: JsonSchema, ref: string): JsonSchema {
  return ref
    .slice(2)
    .split('/')
    .reduce<unknown>((part, key) => (part as JsonSchema)[key], root) as JsonSchema
}

function strings(pattern: unknown, { ids }: About): fc.Arbitrary<string> {
  if (typeof pattern === 'string' && pattern.includes('ms'))
    return fc.constantFrom('1ms', '5ms', '0s', '61s', '9')
  const odd = fc.oneof(
    fc.constantFrom(...ids, 'refund', 'running,waiting', 'user:bob', 'group:support', 'approve'),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', 'x'.repeat(201), '\u0000', '__proto__'),
  )
  if (typeof pattern !== 'string') return odd
  return fc.oneof(
    { weight: 3, arbitrary: fc.stringMatching(new RegExp(pattern, 'u')) },
    { weight: 1, arbitrary: odd },
  )
}

function numbers({ minimum = -1, maximum = 600 }: JsonSchema): fc.Arbitrary<number> {
  const allowed = fc.integer({ min: Math.max(Number(minimum), -1), max: Math.min(Number(maximum), 600) })
  return fc.oneof(
    { weight: 2, arbitrary: allowed },
    { weight: 1, arbitrary: fc.oneof(fc.integer({ min: -1, max: 600 }), fc.double()) },
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
