import { describe, expect, test } from 'vitest'
import type { ScopedOps } from './support/ops.ts'
import { cancel, fail, play } from './support/play.ts'

describe('a shield', () => {
  const guarded = async (ctx: ScopedOps) => {
    try {
      return await ctx.step('work')
    } finally {
      ctx.note(String(await ctx.shield((ctx) => ctx.step('release'))))
    }
  }

  test('keeps a cancel away from a shield, and returns the result of its body', async () => {
    const { trial } = await play(guarded, cancel, 'release')
    expect(trial.notes).toEqual(['release!'])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
  })

  test('rejects as the body of a shield does', async () => {
    const { trial } = await play(guarded, cancel, fail('release'))
    expect(trial.account.outcome).toBe('failed: Error: release failed; left ')
  })

  test('delays the end of a run that has returned', async () => {
    const detached = async (ctx: ScopedOps) => {
      void ctx.shield(async (ctx) => ctx.note(await ctx.step('release')))
      return 'done'
    }
    const { trial: open } = await play(detached)
    expect(open.decision?.state).toBe('waiting')
    const { trial } = await play(detached, 'release')
    expect(trial.notes).toEqual(['release!'])
    expect(trial.account.outcome).toBe('completed: "done"; left ')
  })

  test('releases a shield inside a shield once, in a branch that has lost', async () => {
    const { trial } = await play(
      async (ctx) => {
        const holding = async (ctx: ScopedOps) => {
          try {
            await ctx.step('hold')
          } finally {
            await ctx.shield((ctx) => ctx.shield((ctx) => ctx.step('release')))
            ctx.note('released')
          }
        }
        await ctx.race({ first: ctx.step('first'), holding })
        await ctx.step('next')
      },
      'first',
      cancel,
      'release',
    )
    expect(trial.notes).toEqual(['released'])
    expect(trial.account.outcome).toBe('failed: Error: cancelled; left ')
  })

  test.each([
    ['a body that is no function', (ctx: ScopedOps) => ctx.shield('x' as never), 'body of shield'],
    [
      'a body that uses the outer ctx',
      (ctx: ScopedOps) => ctx.shield(() => ctx.step('a')),
      'The option ctx of shield cannot be the outer ctx.',
    ],
  ])('rejects a shield with %s', async (_, procedure, message) => {
    const { trial } = await play(procedure)
    expect(trial.decision).toMatchObject({
      state: 'failed',
      error: { code: 'option-invalid', message: expect.stringContaining(message) },
    })
  })

  test('allows the outer ctx after the first await of a shield', async () => {
    const { trial } = await play(
      (ctx) =>
        ctx.shield(async (own) => {
          await own.step('a')
          return ctx.step('b')
        }),
      'a',
      'b',
    )
    expect(trial.account.outcome).toBe('completed: "b!"; left ')
  })
})
