// oxlint-disable typescript/no-floating-promises -- nothing here is run
// biome-ignore-all lint/suspicious/noConfusingVoidType: the type of z.void()
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type Actor, type Approval, type Ctx, procedure, type ReceiveOptions } from '../../src/index.ts'

declare const ctx: Ctx<{
  signals: { add: { item: string }; checkout: void; note: string | undefined }
}>

describe('steps', () => {
  test('returns the awaited result of a step body', () => {
    expectTypeOf(ctx.step('a', () => 1)).toEqualTypeOf<Promise<number>>()
    expectTypeOf(ctx.step('a', async () => 'x')).toEqualTypeOf<Promise<string>>()
    expectTypeOf(ctx.step('a', async () => {})).toEqualTypeOf<Promise<void>>()
  })

  test('passes the key, the signal and the attempt to a step body', () => {
    ctx.step('a', (call) => {
      expectTypeOf(call.idempotencyKey).toEqualTypeOf<string>()
      expectTypeOf(call.signal).toEqualTypeOf<AbortSignal>()
      expectTypeOf(call.attempt).toEqualTypeOf<number>()
    })
  })

  test('accepts computed durations', () => {
    const minutes: number = 3
    ctx.step('a', () => 1, { retry: { attempts: 2, backoff: `${minutes}s` }, timeout: `${minutes}m` })
    ctx.step('a', () => 1, { retry: false })
    ctx.sleep(`${minutes}h`)
  })
})

describe('branches', () => {
  test('version returns one of the offered numbers', () => {
    expectTypeOf(ctx.version('vat', 1, 2)).toEqualTypeOf<1 | 2>()
    expectTypeOf(ctx.version('vat', 2, 5, 9)).toEqualTypeOf<2 | 5 | 9>()
    // @ts-expect-error -- one branch is no choice
    ctx.version('vat', 1)
    // @ts-expect-error -- versions are numbers
    ctx.version('vat', 'old', 'new')
    // @ts-expect-error -- 3 is not offered
    if (ctx.version('vat', 1, 2) === 3) return
  })
})

describe('signals', () => {
  test('excludes null from a receive without a timeout', () => {
    expectTypeOf(ctx.receive('add')).toEqualTypeOf<Promise<{ item: string }>>()
    expectTypeOf(ctx.receive('note')).toEqualTypeOf<Promise<string | true>>()
  })

  test('includes null in a receive with a timeout', () => {
    expectTypeOf(ctx.receive('add', { timeout: '3d' })).toEqualTypeOf<Promise<{ item: string } | null>>()
    expectTypeOf(ctx.receive('add', { timeout: new Date(0) })).toEqualTypeOf<
      Promise<{ item: string } | null>
    >()
  })

  test('includes null in a receive whose options may have a timeout', () => {
    const options: ReceiveOptions = { timeout: '1h' }
    expectTypeOf(ctx.receive('add', options)).toEqualTypeOf<Promise<{ item: string } | null>>()
    expectTypeOf(ctx.receive('add', {})).toEqualTypeOf<Promise<{ item: string }>>()
  })

  test('types a signal without a payload as true', () => {
    expectTypeOf(ctx.receive('checkout')).toEqualTypeOf<Promise<true>>()
    expectTypeOf(ctx.receive('checkout', { timeout: '1s' })).toEqualTypeOf<Promise<true | null>>()
  })

  test('types a signal of any payload as any', () => {
    procedure({ name: 'p', signals: { any: z.any(), unknown: z.unknown() } }, async (ctx) => {
      expectTypeOf(await ctx.receive('any')).toBeAny()
      expectTypeOf(await ctx.receive('unknown')).toBeUnknown()
    })
  })

  test('returns a union for several names, discriminated by the name', async () => {
    const next = await ctx.receiveAny(['add', 'checkout'])
    expectTypeOf(next).toEqualTypeOf<
      | { readonly name: 'add'; readonly payload: { item: string }; readonly by?: Actor | undefined }
      | { readonly name: 'checkout'; readonly payload: true; readonly by?: Actor | undefined }
    >()
    if (next.name === 'add') expectTypeOf(next.payload.item).toEqualTypeOf<string>()
    const late = await ctx.receiveAny(['add'], { timeout: '1h' })
    expectTypeOf(late).toEqualTypeOf<{
      readonly name: 'add'
      readonly payload: { item: string }
      readonly by?: Actor | undefined
    } | null>()
  })
})

test('passes the ctx of a procedure to a helper that accepts any ctx', () => {
  async function load(ctx: Ctx, id: string): Promise<string> {
    return await ctx.step('load', () => id)
  }
  procedure({ name: 'p', signals: { go: z.void() } }, (ctx) => load(ctx, 'a'))
})

test('returns plain values for time, random numbers and ids', () => {
  expectTypeOf(ctx.now()).toEqualTypeOf<Date>()
  expectTypeOf(ctx.random()).toEqualTypeOf<number>()
  expectTypeOf(ctx.uuid()).toEqualTypeOf<string>()
  expectTypeOf(ctx.runId).toEqualTypeOf<string>()
})

describe('branches with their own ctx', () => {
  test('returns the winner of a race by name, which discriminates its value', async () => {
    const first = await ctx.race({
      add: ctx.receive('add'),
      late: async (ctx) => {
        await ctx.receive('checkout')
        return 1
      },
    })
    expectTypeOf(first).toEqualTypeOf<
      | { readonly winner: 'add'; readonly value: { item: string } }
      | { readonly winner: 'late'; readonly value: number }
    >()
    if (first.winner === 'late') expectTypeOf(first.value).toEqualTypeOf<number>()
  })

  test('keeps the types of asks in a race', async () => {
    const first = await ctx.race({ approved: ctx.human.approve('Go?', { to: 'role:ops' }) })
    // biome-ignore lint/complexity/noBannedTypes: no params are params
    expectTypeOf(first.value).toExtend<Approval<{}>>()
  })

  test('returns the results of a map in order, or its settled results', () => {
    expectTypeOf(
      ctx.map([1, 2], (item, ctx, index) => {
        expectTypeOf(item).toEqualTypeOf<number>()
        expectTypeOf(index).toEqualTypeOf<number>()
        return ctx.step('a', () => String(item))
      }),
    ).toEqualTypeOf<Promise<string[]>>()
    expectTypeOf(
      ctx.map(['a'], (item, ctx) => ctx.step(item, () => 1), { onError: 'collect' }),
    ).toEqualTypeOf<Promise<PromiseSettledResult<number>[]>>()
    expectTypeOf(ctx.map(['a'], (item, ctx) => ctx.step(item, () => 1), { concurrency: 5 })).toEqualTypeOf<
      Promise<number[]>
    >()
  })

  test("returns the result of a shield's body", () => {
    expectTypeOf(ctx.shield((ctx) => ctx.step('a', () => 1))).toEqualTypeOf<Promise<number>>()
  })
})
