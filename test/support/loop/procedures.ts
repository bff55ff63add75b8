import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { type Procedure, procedure, type Schema } from '@pawl/core'
import { z } from 'zod'
import { schemaOf } from '../schema-of.ts'

/** Where each begin of the step is written down. */
export interface Ledger {
  readonly begins: string
  readonly released: string
}

export function ledgerIn(folder: string): Ledger {
  return { begins: `${folder}/begins`, released: `${folder}/released` }
}

export function countBegins({ begins }: Ledger): number {
  return existsSync(begins) ? readFileSync(begins, 'utf8').length : 0
}

/** A step that is under way until a file says so. In another process it would begin a second time. */
export function holding(ledger: Ledger): Procedure<undefined, string> {
  return procedure({ name: 'holding' }, (ctx) =>
    ctx.step('hold', async () => {
      appendFileSync(ledger.begins, '.')
      while (!existsSync(ledger.released)) await pause(50)
      return 'held'
    }),
  )
}

const member = (kind: string, of: string) =>
  z.object({ kind: z.literal(kind), id: z.string(), [of]: z.number(), note: z.string().max(10) })
const members = [member('a', 'x'), member('b', 'y'), member('c', 'z'), member('d', 'w')] as const
const tree: z.ZodType = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})
/** A list, or an object of itself, in ways that all fit to the end. */
const ambiguous = {
  $ref: '#/$defs/part',
  $defs: {
    part: {
      anyOf: [
        { type: 'array', items: { $ref: '#/$defs/part' }, contains: { const: 'never' } },
        { type: 'array', items: { $ref: '#/$defs/part' }, uniqueItems: true, maxItems: 1 },
        { type: 'object', additionalProperties: { $ref: '#/$defs/part' }, minProperties: 1e9 },
        { type: 'object', additionalProperties: { $ref: '#/$defs/part' }, required: ['never'] },
      ],
    },
  },
}
const patterns = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`^p${n}.*x$`, { type: 'number' }]))
const many = Array.from({ length: 300 }, (_, n) => ({ type: 'object', required: [`r${n}`] }))

/** Schemas of answers, by the name of the procedure that asks with them. */
export const schemas = {
  union: z.object({ items: z.array(z.union([...members, z.object({ other: z.boolean() })])) }),
  tagged: z.object({ items: z.array(z.discriminatedUnion('kind', members)) }),
  strict: z.strictObject({ name: z.string() }),
  record: z.record(z.string().max(3), z.object({ a: z.number() })),
  refined: z.array(z.string().refine(() => false, 'No.')),
  objects: z.array(z.object({ a: z.string().optional() }).refine(() => false, 'No.')),
  anything: z.any(),
  tree,
  unique: schemaOf({ type: 'array', uniqueItems: true }),
  ambiguous: schemaOf(ambiguous),
  patterns: schemaOf({
    type: 'object',
    patternProperties: patterns,
    additionalProperties: { type: 'string' },
  }),
  alternatives: schemaOf({ type: 'array', items: { anyOf: many } }),
  contained: schemaOf({ type: 'array', contains: { anyOf: many } }),
  unevaluated: schemaOf({
    type: 'object',
    anyOf: many.map(({ required: [name = ''] }) => ({ properties: { [name]: {} } })),
    unevaluatedProperties: { type: 'number' },
  }),
} satisfies { readonly [name: string]: Schema }

export type SchemaName = keyof typeof schemas
export const schemaNames = Object.keys(schemas) as readonly SchemaName[]

const asking = schemaNames.map((name) =>
  procedure({ name }, async (ctx) => {
    await ctx.human.input('Which?', schemas[name], { key: 'which' })
  }),
)

const approving = procedure({ name: 'approving' }, async (ctx) => {
  const params = { note: '', list: [] as unknown[] }
  await ctx.human.approve('Pay?', { params, editable: ['note', 'list'], key: 'pay' })
})

const reviewing = procedure({ name: 'reviewing' }, async (ctx) => {
  await ctx.human.review('Publish?', { parts: [] as unknown[] }, { editable: true, key: 'publish' })
})

const taking = procedure(
  {
    name: 'taking',
    input: schemas.union,
    signals: { batch: schemas.union },
    updates: { add: { input: schemas.union, output: z.string() } },
  },
  async (ctx) => {
    ctx.on('add', () => 'added')
    await ctx.receive('batch')
  },
)

const stepping = procedure({ name: 'stepping' }, (ctx) => ctx.step('load', () => 'loaded'))

/** Many asks, none of which has a risk. */
const crowding = procedure({ name: 'crowding' }, async (ctx) => {
  const numbers = Array.from({ length: 1_500 }, (_, n) => n)
  await Promise.all(numbers.map((n) => ctx.human.approve(`Question ${n}?`, { key: `q${n}` })))
})

/** Procedures of the besieged server, beside the step that is under way. */
export const attacked = [...asking, approving, reviewing, taking, stepping, crowding]
