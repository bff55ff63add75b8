// biome-ignore-all lint/complexity/noBannedTypes: no signals and no params are {}
// biome-ignore-all lint/suspicious/noConfusingVoidType: the type of z.void()
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  type Ctx,
  type CtxOf,
  type Procedure,
  type ProcedureRef,
  procedure,
  type Refused,
  ref,
} from '../../src/index.ts'

const order = procedure(
  {
    name: 'order',
    input: z.object({ id: z.string(), express: z.boolean().default(false) }),
    signals: { paid: z.object({ cents: z.number() }), cancel: z.void() },
  },
  async (_ctx, { id, express }) => ({ id, express, total: 3 }),
)

describe('what a procedure infers', () => {
  test("infers no input and the body's result without schemas", () => {
    const hello = procedure({ name: 'hello' }, async () => 'hi')
    expectTypeOf(hello).toEqualTypeOf<Procedure<undefined, string, {}>>()
  })

  test("infers the schema's input for the starter and its output for the body", () => {
    expectTypeOf(order).toEqualTypeOf<
      Procedure<
        { id: string; express?: boolean | undefined },
        { id: string; express: boolean; total: number },
        { signals: { paid: { cents: number }; cancel: void } }
      >
    >()
    procedure(
      { name: 'p', input: z.object({ express: z.boolean().default(false) }) },
      async (_ctx, input) => {
        expectTypeOf(input).toEqualTypeOf<{ express: boolean }>()
      },
    )
  })

  test('keeps literals in a return if an output schema requires them', () => {
    const refund = procedure(
      {
        name: 'refund',
        output: z.object({ status: z.enum(['refunded', 'declined']), by: z.string().optional() }),
      },
      async (ctx) => {
        const approval = await ctx.human.approve('Refund?')
        if (!approval.approved) return { status: 'declined' }
        return { status: 'refunded', by: approval.by }
      },
    )
    expectTypeOf(refund).toEqualTypeOf<
      Procedure<undefined, { status: 'refunded' | 'declined'; by?: string | undefined }, {}>
    >()
  })

  test("infers the output schema's input for the body and its output for the caller", () => {
    const counted = procedure(
      { name: 'counted', output: z.string().transform((text) => text.length) },
      async () => 'four',
    )
    expectTypeOf(counted).toEqualTypeOf<Procedure<undefined, number, {}>>()
  })

  test('infers the signals and the input in the ctx of the body', () => {
    procedure({ name: 'p', input: z.string(), signals: { go: z.number() } }, async (ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<Ctx<{ signals: { go: number } }, string>>()
      expectTypeOf(ctx).toExtend<Ctx>()
    })
  })
})

describe('what a ref infers', () => {
  test('infers the types of a procedure from a ref, without its code', () => {
    const same = ref<typeof order>('order')
    expectTypeOf(same).toEqualTypeOf<
      ProcedureRef<
        { id: string; express?: boolean | undefined },
        { id: string; express: boolean; total: number },
        { signals: { paid: { cents: number }; cancel: void } }
      >
    >()
    expectTypeOf(same).not.toHaveProperty('version')
  })
})

describe('the ctx of a procedure, for helper functions', () => {
  const shop = procedure(
    { name: 'shop', input: z.object({ id: z.string() }), signals: { paid: z.object({ cents: z.number() }) } },
    async (ctx): Promise<number> => {
      await remind(ctx)
      return countCents(ctx)
    },
  )
  async function remind(ctx: CtxOf<typeof shop>) {
    await ctx.step('remind', () => 1)
  }
  async function countCents(ctx: CtxOf<typeof shop>): Promise<number> {
    // @ts-expect-error no such signal
    void ctx.receive('payed')
    return (await ctx.receive('paid')).cents
  }

  test('types CtxOf with the signals and the input', () => {
    expectTypeOf<CtxOf<typeof order>>().toEqualTypeOf<
      Ctx<
        { signals: { paid: { cents: number }; cancel: void } },
        { id: string; express?: boolean | undefined }
      >
    >()
    expectTypeOf(shop).toEqualTypeOf<
      Procedure<{ id: string }, number, { signals: { paid: { cents: number } } }>
    >()
  })

  test('types CtxOf like the ctx of the body, also without signals and without an input', () => {
    const hello = procedure({ name: 'hello' }, async (ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<Ctx<{}, undefined>>()
    })
    expectTypeOf<CtxOf<typeof hello>>().toEqualTypeOf<Ctx<{}, undefined>>()
  })

  test('types CtxOf by a ref', () => {
    const referred = ref<typeof order>('order')
    expectTypeOf<CtxOf<typeof referred>>().toEqualTypeOf<CtxOf<typeof order>>()
  })

  test('accepts CtxOf for any ctx', () => {
    expectTypeOf<CtxOf<typeof order>>().toExtend<Ctx>()
  })

  test('rejects CtxOf of other types with a sentence', () => {
    expectTypeOf<CtxOf<{ name: string }>>().toEqualTypeOf<
      Refused<'CtxOf takes the type of a procedure: CtxOf<typeof order>'>
    >()
  })
})
