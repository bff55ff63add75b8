import { describe, expect, test } from 'vitest'
import type { ScopedOps } from './support/ops.ts'
import { cancel, fail, play } from './support/play.ts'

describe('a race', () => {
  const procedure = (ctx: ScopedOps) =>
    ctx.race({
      paid: ctx.step('paid'),
      late: async (ctx) => {
        try {
          await ctx.step('wait')
          return await ctx.step('remind')
        } finally {
          await ctx.shield((ctx) => ctx.step('tidy'))
          ctx.note('tidied')
        }
      },
    })

  test('lets an operation win a race, closes the other branch, and runs its finally block', async () => {
    const { trial } = await play(
      async (ctx) => {
        ctx.note(JSON.stringify(await procedure(ctx)))
        await ctx.step('next')
      },
      'paid',
      'tidy',
      'next',
    )
    expect(trial.notes).toEqual(['{"winner":"paid","value":"paid!"}', 'tidied'])
    expect(trial.account.outcome).toBe('completed: undefined; left ')
  })

  test('lets a function win a race, and closes the other operation in the same delivery', async () => {
    const { trial } = await play(procedure, 'wait', 'remind', 'tidy')
    expect(trial.decision).toMatchObject({
      state: 'completed',
      output: { winner: 'late', value: 'remind!' },
      closed: [{ operation: { name: 'paid' } }],
      left: [],
    })
  })

  test('gives the loser time to clean up if the race is the whole run', async () => {
    const { trial: open } = await play(procedure, 'paid')
    expect(open.decision?.state).toBe('waiting')
    const { trial } = await play(procedure, 'paid', 'tidy')
    expect(trial.notes).toEqual(['tidied'])
    expect(trial.account.outcome).toBe('completed: {"winner":"paid","value":"paid!"}; left ')
  })

  test('rejects as the first branch does', async () => {
    const { trial } = await play(procedure, fail('paid'), 'tidy')
    expect(trial.account.outcome).toBe('failed: Error: paid failed; left ')
  })

  test('names the winner in the error of the loser', async () => {
    const { trial } = await play(async (ctx) => {
      const lost = async (ctx: ScopedOps) => ctx.step('b').catch((error) => ctx.note(error.message))
      await ctx.race({ a: ctx.step('a'), b: lost })
      await ctx.step('next')
    }, 'a')
    expect(trial.notes).toEqual([
      "This branch of a race was closed: branch 'a' settled first. Every pending operation of the branch rejects with this error. Clean up in `finally` and rethrow the error.",
    ])
  })

  test('accepts a promise of its ctx that has already settled', async () => {
    const { trial } = await play(async (ctx) => {
      const a = ctx.step('a')
      await a
      return ctx.race({ a, b: ctx.step('b') })
    }, 'a')
    expect(trial.account.outcome).toBe('completed: {"winner":"a","value":"a!"}; left ')
  })

  test('rejects a race in a cancelled run, without reporting a misuse', async () => {
    const { trial } = await play(async (ctx) => {
      await ctx.step('a').catch(() => {})
      await ctx.race({ b: ctx.step('b'), c: (ctx) => ctx.step('c') })
    }, cancel)
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
    expect(trial.issued).toEqual(['0 step a 0.0'])
  })

  test('ends an endless loop of races in a cancelled run by force', async () => {
    const { trial } = await play(async (ctx) => {
      for (;;) await ctx.race({ a: ctx.step('a'), b: (ctx) => ctx.step('b') }).catch(() => {})
    }, cancel)
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
  })
})

describe('a race is rejected', () => {
  const refusals: readonly (readonly [string, (ctx: ScopedOps) => unknown, string])[] = [
    ['without a branch', (ctx) => ctx.race({}), 'Pass at least one branch.'],
    [
      'with a value as a branch',
      (ctx) => ctx.race({ a: 1 as never }),
      "The option branch 'a' of race cannot be 1. A branch must be one operation, such as ctx.sleep(…), or a function that takes a ctx.",
    ],
    [
      'with a promise that is not an operation',
      (ctx) => ctx.race({ a: ctx.step('a').then((value) => value), b: ctx.step('b') }),
      "Branch 'a' of a race is a promise that is not an operation of its ctx, so it cannot be closed. Pass a function that uses its own ctx: a: async (ctx) => …",
    ],
    [
      'with one operation in two branches',
      (ctx) => {
        const a = ctx.step('a')
        return ctx.race({ a, again: a })
      },
      "The option branch 'again' of race cannot be an operation of another ctx or of another branch. Each branch needs its own operation, issued by the ctx of this race.",
    ],
    [
      'with an operation of the outer ctx',
      (ctx) => {
        const a = ctx.step('a')
        return ctx.shield((ctx) => ctx.race({ a }))
      },
      'an operation of another ctx',
    ],
    [
      'with a function that uses the outer ctx',
      (ctx) => ctx.race({ a: () => ctx.step('a') }),
      "The option ctx of branch 'a' of race cannot be the outer ctx. Use the ctx that branch 'a' of race receives as a parameter.",
    ],
    [
      'that is started through the outer ctx',
      (ctx) => ctx.shield(() => ctx.race({ a: (ctx) => ctx.step('a') })),
      'The option ctx of shield cannot be the outer ctx.',
    ],
  ]
  test.each(refusals)('rejects a race %s', async (_, procedure, message) => {
    const { trial } = await play(procedure)
    expect(trial.decision).toMatchObject({
      state: 'failed',
      error: { code: 'option-invalid', message: expect.stringContaining(message) },
    })
  })

  test('rejects a race with a wrong promise, without closing other operations', async () => {
    const { trial } = await play(async (ctx) => {
      await ctx.race({ a: new Promise(() => {}), b: ctx.step('b') }).catch((error) => ctx.note(error.code))
      await ctx.step('next')
    })
    expect(trial.notes).toEqual(['option-invalid'])
    expect(trial.pending.map(({ operation }) => operation.name)).toEqual(['next'])
  })
})
