import { createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'

const day = 24 * 3_600_000
const napMs = 300

const nap = procedure({ name: 'nap' }, async (ctx) => {
  const began = ctx.now().getTime()
  await ctx.sleep(`${napMs}ms`)
  return { began, ended: ctx.now().getTime() }
})

// A worker whose wall clock is fast sees a store that is slow, and the other way round.
test.for([
  ['a day fast', -day],
  ['a day slow', day],
] as const)(
  'a worker whose clock is %s fires a timer when the clock of the store says so',
  async ([, skewMs]) => {
    const storeNow = () => Date.now() + skewMs
    const engine = await createEngine({ store: memory({ now: storeNow }), procedures: [nap] })
    onTestFinished(() => engine.stop())
    const startedAt = storeNow()
    const run = await engine.run(nap)
    const { began, ended } = await run.result()
    const seenAt = storeNow()
    expect(began).toBeGreaterThanOrEqual(startedAt)
    expect(ended - began).toBeGreaterThanOrEqual(napMs)
    expect(seenAt).toBeGreaterThanOrEqual(ended)
    expect(seenAt - startedAt).toBeLessThan(20_000)
  },
)
