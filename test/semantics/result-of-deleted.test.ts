import { createEngine, procedure, ref, type Store } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

const other = procedure({ name: 'other', signals: { end: z.void() } }, async (ctx) => {
  await ctx.receive('end')
  return 'done'
})
const waiting = procedure({ name: 'waiting' }, (ctx) => ctx.get(ref<typeof other>('other'), 'x').result())

async function start(store: Store, own: typeof other | typeof waiting) {
  const engine = await createEngine({ store, procedures: [own], logger: silent })
  onTestFinished(() => engine.stop())
  return engine
}

test('a wait for a run that has ended and is deleted has one result: the end of which the run was told', async () => {
  const store = memory()
  const others = await start(store, other)
  const x = await others.run(other, undefined, { id: 'x' })
  const first = await start(store, waiting)
  await first.run(waiting, undefined, { id: 'w' })
  await expect.poll(async () => (await first.get('w').status()).waitingFor.length).toBe(1)
  await first.stop()
  await x.signal('end')
  await x.result()
  await others.delete('x')
  const second = await start(store, waiting)
  expect(await second.get('w').result()).toBe('done')
  const port = connectTo(store) as StorePort
  await port.open()
  const events = await port.log.load((await port.runs.find('w'))?.run ?? 0, 0, 100)
  expect(events.filter(({ type }) => type === 'settled')).toHaveLength(1)
})
