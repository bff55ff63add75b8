import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { checkMessages, definitionOf, type ProcedureDefinition } from '../../src/authoring/procedure.ts'
import { type Procedure, procedure, ref } from '../../src/index.ts'

const body = async (): Promise<number> => 1
type Order = Procedure<{ id: string }, number>

describe('a procedure', () => {
  const input = z.object({ id: z.string() })
  const output = z.number()
  const paid = z.object({ cents: z.number() })
  const order = procedure({ name: 'order', version: 2, input, output, signals: { paid } }, body)

  test('exposes only the name, version and schemas of a procedure', () => {
    expect(order).toEqual({ name: 'order', version: 2, schemas: { input, output } })
    expect(Object.isFrozen(order)).toBe(true)
    expect(procedure({ name: 'hello' }, body)).toEqual({
      name: 'hello',
      version: 1,
      schemas: { input: undefined, output: undefined },
    })
  })

  test('holds the code of a procedure for a worker', () => {
    expect(definitionOf(order)).toEqual({
      name: 'order',
      version: 2,
      input,
      output,
      signals: new Map([['paid', paid]]),
      body,
    })
    expect(definitionOf(procedure({ name: 'hello' }, body))?.signals.size).toBe(0)
  })

  test('recognizes a procedure of another copy of the package', async () => {
    vi.resetModules()
    const copy = await import('../../src/authoring/procedure.ts')
    expect(copy.definitionOf(order)?.name).toBe('order')
  })

  test.each([undefined, null, 'order', {}, ref<Order>('order'), { name: 'order', version: 1 }])(
    'finds no code in %j',
    (value) => {
      expect(definitionOf(value)).toBeUndefined()
    },
  )
})

describe('a definition', () => {
  test.each<[object, string]>([
    [{}, 'The option name of procedure cannot be undefined.'],
    [{ name: '' }, 'It must be a non-empty string.'],
    [{ name: 'x'.repeat(201) }, 'It must have at most 200 characters'],
    [{ name: 'p', version: 0 }, "The option version of procedure 'p' cannot be 0."],
    [{ name: 'p', version: 1.5 }, 'It must be a whole number from 1 to 2147483647.'],
    [{ name: 'p', version: '2' }, 'It must be a whole number from 1 to 2147483647.'],
    [{ name: 'p', input: { id: String } }, "The option input of procedure 'p'"],
    [{ name: 'p', input: null }, "The option input of procedure 'p' cannot be null."],
    [{ name: 'p', output: 7 }, "The option output of procedure 'p' cannot be 7."],
    [{ name: 'p', signals: ['paid'] }, "The option signals of procedure 'p'"],
    [{ name: 'p', signals: null }, "The option signals of procedure 'p' cannot be null."],
    [
      { name: 'p', signals: { paid: Number } },
      "The option signals.paid of procedure 'p' cannot be a function.",
    ],
    [{ name: 'p', signals: { '': z.void() } }, 'name of a signal'],
    [{ name: 'p', signal: { paid: z.void() } }, 'Did you mean signals?'],
  ])('rejects the procedure options %j', (spec, message) => {
    expect(() => procedure(spec as { name: string }, body)).toThrow(message)
  })

  test('rejects a procedure without a body', () => {
    expect(() => procedure({ name: 'p' }, undefined as never)).toThrow('The option body of procedure')
    expect(() => procedure({ name: 'p' }, function* () {} as never)).toThrow('cannot be a generator')
    expect(() => procedure({ name: 'p' }, async function* () {} as never)).toThrow('cannot be a generator')
    expect(() => procedure(undefined as unknown as { name: string }, body)).toThrow(
      'The option name of procedure',
    )
  })
})

describe('signals', () => {
  const defined = (signals: { readonly [name: string]: z.ZodType }): ProcedureDefinition =>
    definitionOf(procedure({ name: 'order', signals }, body)) as ProcedureDefinition

  test('accepts a signal whose schema returns valid input', () => {
    expect(() =>
      checkMessages(defined({ paid: z.object({ cents: z.number() }), stop: z.void() })),
    ).not.toThrow()
  })

  test('rejects a signal whose schema transforms', () => {
    expect(() => checkMessages(defined({ stop: z.void(), paid: z.string().transform(Number) }))).toThrow(
      "The option signals.paid of procedure 'order' cannot be a schema that transforms. Use a schema whose output is valid input, and transform in the procedure.",
    )
  })
})

describe('a ref', () => {
  test('creates a ref from a name', () => {
    expect(ref<Order>('order')).toEqual({ name: 'order' })
    expect(Object.isFrozen(ref<Order>('order'))).toBe(true)
    expect(() => ref<Order>('')).toThrow('The option name of ref')
  })
})
