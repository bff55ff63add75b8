import {
  createEngine,
  type Engine,
  type Logger,
  PawlError,
  type Procedure,
  procedure,
  type RunView,
} from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const leaf = procedure({ name: 'leaf' }, async () => 1)

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

async function start(
  procedures: readonly AnyProcedure[],
  options: { readonly maxDescendants?: number } = {},
) {
  const engine = await createEngine({ store: memory(), procedures, logger: silent, ...options })
  onTestFinished(() => engine.stop())
  const count = async (name: string): Promise<number> => {
    let size = 0
    for (let cursor: string | undefined; ; ) {
      const page = await engine.list({ procedure: name, limit: 200, ...(cursor && { cursor }) })
      size += page.items.length
      if (!page.cursor) return size
      cursor = page.cursor
    }
  }
  return { engine, count }
}

/** Returns the run that a refusal has stopped. */
async function untilStuck(engine: Engine): Promise<RunView> {
  for (;;) {
    const [stuck] = (await engine.list({ status: 'stuck', limit: 1 })).items
    if (stuck !== undefined) return stuck
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** Creates as many runs as it may, without awaiting one, and returns how many, and what refused the next. */
function greedy(verb: 'call' | 'spawn'): Procedure<undefined, readonly [number, unknown]> {
  return procedure({ name: 'greedy' }, async (ctx) => {
    for (let created = 0; ; created++)
      try {
        void ctx[verb](leaf).catch(() => {})
      } catch (error) {
        return [created, error instanceof Error ? error.message : error] as const
      }
  })
}

describe('bounds of families', () => {
  test.each(['call', 'spawn'] as const)(
    'a run whose child does the same with %s makes 64 runs below it',
    async (verb) => {
      const bomb: Procedure<undefined, void> = procedure({ name: 'bomb' }, async (ctx): Promise<void> => {
        if (verb === 'call') await ctx.call(bomb)
        else await (await ctx.spawn(bomb, undefined, { onParentEnd: 'detach' })).result()
      })
      const { engine, count } = await start([bomb])
      await engine.run(bomb)
      const refusal =
        `The option depth of ${verb} cannot be 65. ` +
        'Runs can be nested at most 64 deep. Give the recursion an end, or call from a run that is less deep.'
      const deepest = await untilStuck(engine)
      expect(deepest.failure?.message).toContain(refusal)
      expect(deepest.stuck?.code).toBe('procedure-broken')
      expect(await count('bomb')).toBe(65)
    },
  )

  test.each(['call', 'spawn'] as const)('10,000 pending operations refuse another %s', async (verb) => {
    const procedureOfIt = greedy(verb)
    const { engine, count } = await start([procedureOfIt, leaf])
    const run = await engine.run(procedureOfIt)
    expect(await run.result()).toEqual([
      10_000,
      `The option number of pending operations of ${verb} cannot be 10001. A run with 10000 pending operations cannot create ` +
        'another run. Await some first, for example with ctx.map and its concurrency.',
    ])
    expect(await count('leaf')).toBe(0)
  })

  test('a run that doubles at every level makes about as many runs as its family may have', async () => {
    const refusals: unknown[] = []
    const bomb: Procedure<undefined, void> = procedure({ name: 'bomb' }, async (ctx): Promise<void> => {
      const both = await Promise.allSettled([ctx.call(bomb), ctx.call(bomb)])
      for (const one of both) if (one.status === 'rejected') refusals.push(one.reason)
    })
    const { engine, count } = await start([bomb], { maxDescendants: 200 })
    await (await engine.run(bomb, undefined, { id: 'root' })).result()
    expect(refusals[0]).toMatchObject({ code: 'family-full', details: { root: 'root', limit: 200 } })
    expect(new Set(refusals.map((error) => (error as PawlError).code))).toEqual(new Set(['family-full']))
    expect(await count('bomb')).toBeGreaterThan(200)
    // What was being written while it was counted may exceed it.
    expect(await count('bomb')).toBeLessThan(400)
  })

  test('a family that has as many runs as it may is cancelled whole', async () => {
    const bomb: Procedure<undefined, void> = procedure({ name: 'bomb' }, async (ctx): Promise<void> => {
      try {
        await Promise.all([ctx.call(bomb), ctx.call(bomb)])
      } catch (error) {
        if (!PawlError.is(error, 'family-full')) throw error
        await ctx.sleep('30d')
      }
    })
    const { engine } = await start([bomb], { maxDescendants: 500 })
    const run = await engine.run(bomb, undefined, { id: 'root' })
    const isLive = async () =>
      (await engine.list({ status: ['running', 'waiting'], limit: 1 })).items.length > 0
    while ((await engine.list({ status: 'running', limit: 1 })).items.length > 0)
      await new Promise((resolve) => setTimeout(resolve, 20))
    await run.cancel('enough')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    while (await isLive()) await new Promise((resolve) => setTimeout(resolve, 20))
    expect((await engine.list({ status: ['completed', 'failed'], limit: 1 })).items).toEqual([])
  })

  test('what a run creates itself is not counted against it', async () => {
    const many = procedure({ name: 'many' }, async (ctx) => {
      for (let i = 0; i < 5; i++) await ctx.call(leaf)
      return 'done'
    })
    const { engine } = await start([many, leaf], { maxDescendants: 2 })
    expect(await (await engine.run(many)).result()).toBe('done')
  })
})
