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
  test('without schemas it takes nothing and returns what its body returns', () => {
    const hello = procedure({ name: 'hello' }, async () => 'hi')
    expectTypeOf(hello).toEqualTypeOf<Procedure<undefined, string, {}>>()
  })

  test('the starter gives what the schema accepts, the body gets what it returns', () => {
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

  test('literals in a return stay literal where an output schema asks for them', () => {
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

  test('the output is what the schema returns, the body returns what it accepts', () => {
    const counted = procedure(
      { name: 'counted', output: z.string().transform((text) => text.length) },
      async () => 'four',
    )
    expectTypeOf(counted).toEqualTypeOf<Procedure<undefined, number, {}>>()
  })

  test('the ctx of the body carries the signals and the input', () => {
    procedure({ name: 'p', input: z.string(), signals: { go: z.number() } }, async (ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<Ctx<{ signals: { go: number } }, string>>()
      expectTypeOf(ctx).toExtend<Ctx>()
    })
  })
})

describe('what a ref infers', () => {
  test('it has the types of the procedure and none of its code', () => {
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

describe('the ctx of a procedure, for helper functions,', () => {
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

  test('has its signals and its input', () => {
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

  test('is what the body is given, also without signals and without an input', () => {
    const hello = procedure({ name: 'hello' }, async (ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<Ctx<{}, undefined>>()
    })
    expectTypeOf<CtxOf<typeof hello>>().toEqualTypeOf<Ctx<{}, undefined>>()
  })

  test('is known by a ref as well', () => {
    const referred = ref<typeof order>('order')
    expectTypeOf<CtxOf<typeof referred>>().toEqualTypeOf<CtxOf<typeof order>>()
  })

  test('fits where any ctx will do', () => {
    expectTypeOf<CtxOf<typeof order>>().toExtend<Ctx>()
  })

  test('is refused with a sentence for what is no procedure', () => {
    expectTypeOf<CtxOf<{ name: string }>>().toEqualTypeOf<
      Refused<'CtxOf takes the type of a procedure: CtxOf<typeof order>'>
    >()
  })
})
