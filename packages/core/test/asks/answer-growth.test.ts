import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type CheckedAnswer, checkAnswer } from '../../src/asks/answer-check.ts'
import type { AskPayload } from '../../src/events/payloads.ts'
import { jsonSchemaOf } from '../../src/schemas/schema.ts'

// How the cost of checking an answer by the JSON Schema of its ask grows with the answer: one dimension at a time,
// beside what zod's own safeParse of the same value does.

const kinds = Array.from({ length: 12 }, (_, i) => `kind${i}`)
const flat = (kind: string) => z.object({ kind: z.literal(kind), a: z.number(), b: z.string() })
const [first, ...rest] = kinds.map(flat) as [ReturnType<typeof flat>, ...ReturnType<typeof flat>[]]
const union = z.union([first, ...rest])
const discriminated = z.discriminatedUnion('kind', [first, ...rest])
const untagged = z.union([z.object({ a: z.number() }), z.object({ b: z.string() }), z.array(z.number())])

// Its tag comes last, behind what leads back to it.
const sum: z.ZodType = z.lazy(() =>
  z.discriminatedUnion('kind', [
    z.object({ left: sum, right: sum, kind: z.literal('add') }),
    z.object({ left: sum, right: sum, kind: z.literal('multiply') }),
    z.object({ value: z.number(), kind: z.literal('number') }),
  ]),
)
const chain: z.ZodType = z.lazy(() =>
  z.object({ next: chain, list: z.array(z.number()).optional() }).nullable(),
)
const tree: z.ZodType = z.lazy(() => z.object({ name: z.string(), children: z.array(tree) }))
const both: z.ZodType = z.lazy(() =>
  z.intersection(z.looseObject({ next: both }), z.record(z.string(), both)).or(z.number()),
)

interface Dimension {
  readonly schema: z.ZodType
  /** Of a size, with something wrong in it where `isWrong` says so; `n` is below the size. */
  readonly make: (size: number, isWrong: (n: number) => boolean) => unknown
  /** Payloads are at most 256 levels deep. */
  readonly isDeep?: true
  /** Where zod's own cost doubles with each level: then only ours is held to grow with the answer. */
  readonly zodExplodes?: true
}

function list<Item>(size: number, item: (n: number) => Item): Item[] {
  return Array.from({ length: size }, (_, n) => item(n))
}

function nest(size: number, wrap: (inner: unknown, n: number) => unknown, innermost: unknown): unknown {
  return list(size, (n) => n).reduceRight((inner: unknown, n) => wrap(inner, n), innermost)
}

const dimensions: { readonly [what: string]: Dimension } = {
  'items of a list': {
    schema: z.array(z.number()),
    make: (size, isWrong) => list(size, (n) => (isWrong(n) ? 'x' : n)),
  },
  'items of a list of a union': {
    schema: z.array(union),
    make: (size, isWrong) => list(size, (n) => ({ kind: kinds[n % 12], a: isWrong(n) ? 'x' : n, b: 'text' })),
  },
  'items of a list of a discriminated union': {
    schema: z.array(discriminated),
    make: (size, isWrong) => list(size, (n) => ({ kind: isWrong(n) ? 'x' : kinds[n % 12], a: n, b: 'text' })),
  },
  'items of a list of a union without a tag': {
    schema: z.array(untagged),
    make: (size, isWrong) => list(size, (n) => (isWrong(n) ? { a: 'x', b: n } : [n])),
  },
  'keys of a record': {
    schema: z.record(z.string(), z.number()),
    make: (size, isWrong) => Object.fromEntries(list(size, (n) => [`key${n}`, isWrong(n) ? 'x' : n])),
  },
  'unknown keys of an object': {
    schema: z.strictObject({ a: z.number() }),
    make: (size, isWrong) => ({
      a: 1,
      ...Object.fromEntries(list(size, (n) => [`key${n}`, 1]).filter((_, n) => isWrong(n))),
    }),
  },
  'undefined items of a list': {
    schema: z.array(z.object({ a: z.array(z.number().optional()) }).optional()),
    make: (size, isWrong) =>
      list(size, (n) => (n % 2 ? undefined : { a: [undefined, isWrong(n) ? 'x' : 1] })),
  },
  'undefined members of a record of a union': {
    schema: z.record(z.string(), z.union([z.array(z.number().optional()), z.array(z.string().optional())])),
    make: (size, isWrong) =>
      Object.fromEntries(
        list(size, (n) => [`key${n}`, [undefined, n % 2 ? 1 : 'text', isWrong(n) ? true : undefined]]),
      ),
  },
  'letters of a text': {
    schema: z.object({ text: z.string().regex(/^[a-z]*$/) }),
    make: (size, isWrong) => ({ text: list(size, (n) => (isWrong(n) ? 'X' : 'x')).join('') }),
  },
  'children of a tree': {
    schema: tree,
    make: (size, isWrong) => ({
      name: 'root',
      children: list(size, (n) => ({ name: isWrong(n) ? n : 'leaf', children: [] })),
    }),
  },
  'values of any JSON': {
    schema: z.json(),
    make: (size, isWrong) => list(size, (n) => ({ a: [n, { b: isWrong(n) ? 5n : 'text' }] })),
  },
  'levels of a union whose tag comes last': {
    schema: sum,
    make: (size, isWrong) => {
      const leaf = { value: 1, kind: 'number' }
      return nest(
        size,
        (left, n) => ({ left, right: isWrong(n) ? { value: 'x', kind: 'number' } : leaf, kind: 'add' }),
        leaf,
      )
    },
    isDeep: true,
  },
  'levels of a chain': {
    schema: chain,
    make: (size, isWrong) => nest(size, (next, n) => (isWrong(n) ? { next, list: ['x'] } : { next }), null),
    isDeep: true,
  },
  'levels of a tree': {
    schema: tree,
    make: (size, isWrong) =>
      nest(size, (child, n) => ({ name: isWrong(n) ? n : 'branch', children: [child] }), {
        name: 'leaf',
        children: [],
      }),
    isDeep: true,
  },
  'levels of what two schemas describe': {
    schema: both,
    make: (size, isWrong) => nest(size, (next, n) => (isWrong(n) ? { next, x: 'x' } : { next }), 1),
    isDeep: true,
    zodExplodes: true,
  },
}

/** Which parts of an answer are wrong. */
const wrongs: { readonly [what: string]: (size: number) => (n: number) => boolean } = {
  none: () => () => false,
  all: () => () => true,
  'the last': (size) => (n) => n === size - 1,
  'every third': () => (n) => n % 3 === 0,
}

function askFor(schema: z.ZodType): AskPayload {
  const json = jsonSchemaOf(schema)
  if (json === undefined) throw new Error('the schema has no JSON Schema')
  return { kind: 'input', message: '?', silence: { do: 'keep-waiting' }, schema: json }
}

/** How often a check reads something of a value: which keys an object has, or a member. */
function countReads(value: unknown, check: (value: unknown) => unknown): number {
  let reads = 0
  const copies = new WeakMap<object, object>()
  const watched = (one: unknown): unknown => {
    if (typeof one !== 'object' || one === null) return one
    const known = copies.get(one)
    if (known !== undefined) return known
    const copy = new Proxy(one, {
      get: (target, key) => {
        reads++
        return watched(Reflect.get(target, key))
      },
      ownKeys: (target) => {
        const keys = Reflect.ownKeys(target)
        reads += keys.length
        return keys
      },
      has: (target, key) => {
        reads++
        return Reflect.has(target, key)
      },
    })
    copies.set(one, copy)
    return copy
  }
  check(watched(value))
  return reads
}

interface Counted {
  readonly ours: number
  readonly zods: number
}

function countBoth({ schema, zodExplodes }: Dimension, ask: AskPayload, value: unknown): Counted {
  return {
    ours: countReads(value, (given) => checkAnswer(ask, { value: given })),
    zods: zodExplodes ? 0 : countReads(value, (given) => schema.safeParse(given)),
  }
}

describe.each(Object.entries(dimensions))('with the %s', (_, dimension) => {
  const { schema, make, isDeep, zodExplodes } = dimension
  const ask = askFor(schema)
  const sizes = isDeep ? fc.integer({ min: 15, max: 60 }) : fc.integer({ min: 100, max: 400 })
  const wrongOnes = fc.constantFrom(...Object.entries(wrongs))

  test('reads at most as much of an answer as its size, and as zod: linear growth', () => {
    const property = fc.property(sizes, wrongOnes, (size, [, wrong]) => {
      const [small, large] = [size, size * 4].map((n) => countBoth(dimension, ask, make(n, wrong(n)))) as [
        Counted,
        Counted,
      ]
      // What does not grow with the answer makes it less.
      expect(large.ours).toBeLessThanOrEqual(small.ours * 4.2 + 20)
      if (zodExplodes) return
      expect(large.ours / small.ours).toBeLessThanOrEqual(Math.max(1, large.zods / small.zods) * 1.2)
      expect(large.ours).toBeLessThanOrEqual(large.zods * 6 + 200)
    })
    fc.assert(property, { numRuns: 12 })
  })

  test('rejects an answer that zod rejects, with at most 100 short issues', () => {
    const property = fc.property(sizes, wrongOnes, (size, [, wrong]) => {
      const value = make(size, wrong(size))
      const checked = checkAnswer(ask, { value })
      const isWrong = list(size, (n) => n).some((n) => wrong(size)(n) && hasWrong(make, size, n))
      expect(checked.ok).toBe(!isWrong)
      if (!checked.ok) expect(sizeOf(checked)).toBeLessThanOrEqual(100 * 700)
      if (!checked.ok) expect(checked.issues.length).toBeLessThanOrEqual(100)
    })
    fc.assert(property, { numRuns: 12 })
  })
})

/** Not every place of every shape can have something wrong. */
function hasWrong(make: Dimension['make'], size: number, at: number): boolean {
  const [right, wrong] = [() => false, (n: number) => n === at].map((isWrong) => show(make(size, isWrong)))
  return right !== wrong
}

function show(value: unknown): string {
  return JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? `${one}n` : one))
}

function sizeOf({ issues }: Extract<CheckedAnswer, { readonly ok: false }>): number {
  return issues.reduce((sum, { path, message }) => sum + path.length + message.length, 0)
}

describe('the processor time to reject an answer of 16 times the size', () => {
  const large = Object.entries(dimensions).filter(([, { isDeep }]) => !isDeep)
  test.for(large)(
    'grows at most 16 times, with a margin of four for noise: %s',
    async ([, dimension], { annotate }) => {
      const { schema, make } = dimension
      const ask = askFor(schema)
      for (const [what, wrong] of Object.entries(wrongs)) {
        if (what === 'none') continue
        const spend = (size: number, times: number, check: (value: unknown) => unknown): number => {
          const value = make(size, wrong(size))
          return Math.min(...list(times, () => spent(() => check(value))))
        }
        const ours = (size: number): number => spend(size, 3, (value) => checkAnswer(ask, { value }))
        const few = ours(1_000) + 1_000
        const many = ours(16_000)
        const zods = spend(16_000, 1, (value) => schema.safeParse(value))
        await annotate(
          `with ${what} wrong it takes ${(many / zods).toFixed(2)} times the time of zod's safeParse`,
        )
        expect(many).toBeLessThan(few * 16 * 4)
      }
    },
  )

  /** In microseconds; of this process alone, whatever else the machine does. */
  function spent(work: () => unknown): number {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
})
