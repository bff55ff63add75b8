import { createClient, createEngine, procedure } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { keepLines } from '../semantics/support.ts'

const begun = new Set<string>()
const stuckFast = procedure({ name: 'stuck fast' }, (ctx) =>
  ctx.step('work', () => {
    begun.add(ctx.runId)
    return new Promise(() => {})
  }),
)
const other = procedure({ name: 'other' }, (ctx) => ctx.step('go on', () => 'went'))

test('runs that workers died over are taken one at a time, however much others tell of', async () => {
  const store = memory()
  const client = createClient({ store })
  for (let index = 0; index < 5; index++) await client.run(stuckFast)
  const port = connectTo(store) as StorePort
  await port.open()
  onTestFinished(() => port.close())
  for (let deaths = 0; deaths < 2; deaths++) {
    const worker = await port.register({ name: 'doomed', leaseMs: -1_000 })
    const { runs } = await port.claim({ worker, procedures: [{ name: 'stuck fast', versions: [1] }] }, 10)
    expect(runs).toHaveLength(5)
    await port.sweep()
  }

  const { logger } = keepLines()
  const startedAt = performance.now()
  const engine = await createEngine({ store, procedures: [stuckFast, other], logger })
  onTestFinished(async () => {
    await engine.stop({ within: '1ms' })
    await client.stop()
  })
  // Each of them is a hint for the worker.
  for (let index = 0; index < 20; index++) expect(await (await client.run(other)).result()).toBe('went')
  // One is alone for half a second.
  expect(begun.size).toBeLessThanOrEqual(1 + Math.floor((performance.now() - startedAt) / 500))
  // And none of them waits for ever.
  while (begun.size < 3) await new Promise((resolve) => setTimeout(resolve, 20))
})
