import { procedure } from '@pawl/core'
import { consoleLogger, createConnectedClient, Notifier, sha256 } from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { Memory } from '../../src/memory-store.ts'
import { createSeededEntropy } from '../../src/seeded-entropy.ts'
import { VirtualClock } from '../../src/virtual-clock.ts'

/** Counts the lookups of runs on all connections that are made from now on. */
function countFinds() {
  const { connect } = Memory.prototype
  const find = vi.fn<(id: string) => void>()
  const spy = vi.spyOn(Memory.prototype, 'connect').mockImplementation(function (this: Memory, process) {
    const port = connect.call(this, process)
    return {
      ...port,
      runs: {
        ...port.runs,
        find(id) {
          find(id)
          return port.runs.find(id)
        },
      },
    }
  })
  return {
    count: () => find.mock.calls.length,
    reset: () => find.mockClear(),
    [Symbol.dispose]: () => spy.mockRestore(),
  }
}

const naps = procedure({ name: 'naps' }, async (ctx) => {
  for (let i = 0; i < 50; i++) await ctx.sleep('1h')
  return 'rested'
})

test('a test engine does not poll for a result at every jump of time', async () => {
  using finds = countFinds()
  await using engine = await testEngine({ procedures: [naps] })
  const run = await engine.run(naps)
  await engine.advance('1h')
  finds.reset()
  expect(await run.result()).toBe('rested')
  expect(finds.count()).toBeLessThan(5)
})

test('a test engine does not poll when the test itself writes', async () => {
  const order = procedure({ name: 'order', signals: { paid: z.number() } }, (ctx) => ctx.receive('paid'))
  using finds = countFinds()
  await using engine = await testEngine({ procedures: [order] })
  const [run, ...others] = await Promise.all(Array.from({ length: 20 }, () => engine.run(order)))
  const result = run?.result()
  for (const other of others) await other.signal('paid', 1)
  await run?.signal('paid', 2)
  expect(await result).toBe(2)
  expect(finds.count()).toBeLessThan(5)
})

test('a test engine finds a result of another engine whose worker dies without a hint', async () => {
  const store = memory()
  await using waiting = await testEngine({ procedures: [], store })
  await using working = await testEngine({ procedures: [naps], store })
  await working.crash('every')
  const run = await working.run(naps)
  const results = Promise.all([run.result(), waiting.get(naps, run.id).result()])
  expect(await results).toEqual(['rested', 'rested'])
})

test('a client polls after a second, because a hint may be lost', async () => {
  const store = memory()
  const deaf = Object.assign(connectTo(store) as StorePort, { watch: () => () => {} })
  const clock = new VirtualClock(0)
  const entropy = createSeededEntropy(1, 0)
  const client = createConnectedClient({
    ...{ store: deaf, notifier: new Notifier(), clock: clock.see().clock, entropy, sha256 },
    ...{ logger: consoleLogger, localWorker: undefined },
  })
  await using engine = await testEngine({ procedures: [naps], store })
  const { id, result } = await engine.run(naps)
  const seen = client.get(naps, id).result()
  await result()
  clock.moveTo(1_000)
  expect(await seen).toBe('rested')
  await client.stop()
})
