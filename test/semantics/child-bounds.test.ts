import { createEngine, type Engine, type Logger, type Procedure, procedure, type RunView } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const leaf = procedure({ name: 'leaf' }, async () => 1)

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

async function start(...procedures: readonly AnyProcedure[]) {
  const engine = await createEngine({ store: memory(), procedures, logger: silent })
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
      const { engine, count } = await start(bomb)
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
    const { engine, count } = await start(procedureOfIt, leaf)
    const run = await engine.run(procedureOfIt)
    expect(await run.result()).toEqual([
      10_000,
      `The option number of pending operations of ${verb} cannot be 10001. A run with 10000 pending operations cannot create ` +
        'another run. Await some first, for example with ctx.map and its concurrency.',
    ])
    expect(await count('leaf')).toBe(0)
  })
})
