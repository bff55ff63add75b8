import { describe, expect, test } from 'vitest'
import type { ScopedOps } from './support/ops.ts'
import { cancel, fail, play } from './support/play.ts'

const each = (item: string, ctx: ScopedOps, index: number) => ctx.step(`${item}${index}`)
const names = ['a', 'b', 'c', 'd']

describe('a map', () => {
  test('returns the results of a map in the order of the items, however they settle', async () => {
    const { trial } = await play((ctx) => ctx.map(names.slice(0, 3), each), 'b1', 'c2', 'a0')
    expect(trial.account.outcome).toBe('completed: ["a0!","b1!","c2!"]; left ')
  })

  test('completes a map without items', async () => {
    const { trial } = await play((ctx) => ctx.map([], each))
    expect(trial.account.outcome).toBe('completed: []; left ')
  })

  test('limits the concurrency of a map, and starts the next item in the turn in which one settles', async () => {
    const { trial } = await play((ctx) => ctx.map(names, each, { concurrency: 2 }), 'b1', 'c2', 'a0', 'd3')
    expect(trial.issued).toEqual(['0 step a0 0.0', '1 step b1 0.0', '2 step c2 1.0', '3 step d3 2.0'])
    expect(trial.account.outcome).toBe('completed: ["a0!","b1!","c2!","d3!"]; left ')
  })

  test('stops a map at the first error, and closes the running items', async () => {
    const { trial } = await play(async (ctx) => {
      const noted = (item: string, ctx: ScopedOps, index: number) =>
        each(item, ctx, index).catch((error: Error) => {
          ctx.note(error.message)
          throw error
        })
      await ctx.map(names, noted, { concurrency: 3 }).catch((error) => ctx.note(`map: ${error.message}`))
      await ctx.step('next')
    }, fail('b1'))
    const closed =
      'Item 1 of a `ctx.map` failed, which closed the others. Every pending operation of the other items rejects with this error. Clean up in `finally` and rethrow the error.'
    expect(trial.notes).toEqual(['b1 failed', 'map: b1 failed', closed, closed])
    expect(trial.pending.map(({ operation }) => operation.name)).toEqual(['next'])
  })

  test('returns settled results from a map that collects', async () => {
    const { trial } = await play((ctx) => ctx.map(['a', 'b'], each, { onError: 'collect' }), fail('a0'), 'b1')
    expect(trial.decision).toMatchObject({
      state: 'completed',
      output: [
        { status: 'rejected', reason: { message: 'a0 failed' } },
        { status: 'fulfilled', value: 'b1!' },
      ],
    })
  })

  test('starts no further item in a cancelled run', async () => {
    const called: string[] = []
    const noted = (item: string, ctx: ScopedOps) => {
      called.push(item)
      return ctx.step(item).catch(() => 'caught')
    }
    const stopped = await play((ctx) => ctx.map(names, noted, { concurrency: 1 }), 'a', cancel)
    expect(stopped.trial.account.outcome).toBe('failed: Error: cancelled; left ')
    expect(new Set(called)).toEqual(new Set(['a', 'b']))
    const collects = { concurrency: 1, onError: 'collect' }
    const collected = await play((ctx) => ctx.map(names, noted, collects), 'a', cancel)
    expect(collected.trial.decision).toMatchObject({
      output: [
        { value: 'a!' },
        { value: 'caught' },
        { status: 'rejected', reason: { message: 'cancelled' } },
        { status: 'rejected', reason: { message: 'cancelled' } },
      ],
    })
    expect(new Set(called)).toEqual(new Set(['a', 'b']))
  })

  test('takes the items of a map as they are when it is called', async () => {
    const items = ['a', 'b']
    const { trial } = await play(
      (ctx) => {
        const mapped = ctx.map([...items], each, { concurrency: 1 })
        return mapped
      },
      'a0',
      'b1',
    )
    expect(trial.account.outcome).toBe('completed: ["a0!","b1!"]; left ')
  })
})

describe('a map is rejected', () => {
  const refusals: readonly (readonly [string, (ctx: ScopedOps) => unknown, string])[] = [
    ['without items', (ctx) => ctx.map('ab' as never, each), 'items of map'],
    ['without a function', (ctx) => ctx.map([], 1 as never), 'function of map'],
    ['with no item at work', (ctx) => ctx.map([], each, { concurrency: 0 }), 'concurrency of map'],
    ['with too many at work', (ctx) => ctx.map([], each, { concurrency: 1_001 }), 'concurrency of map'],
    ['with another onError', (ctx) => ctx.map([], each, { onError: 'ignore' }), 'onError of map'],
    ['with another option', (ctx) => ctx.map([], each, { limit: 1 }), 'There is no option limit'],
    [
      'with a function that uses the outer ctx',
      (ctx) => ctx.map(['a'], () => ctx.step('a')),
      'The option ctx of item 0 of map cannot be the outer ctx.',
    ],
  ]
  test.each(refusals)('rejects a map %s', async (_, procedure, message) => {
    const { trial } = await play(procedure)
    expect(trial.decision).toMatchObject({
      state: 'failed',
      error: { code: 'option-invalid', message: expect.stringContaining(message) },
    })
  })
})
