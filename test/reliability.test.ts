import { createClient, createEngine, procedure, type RunHandle, type Store } from '@pawl/core'
import { connectTo, defineStore } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

// Cases of docs/reliability-cases.md that no other test is about.

describe('a run that kills its worker', () => {
  const never = procedure({ name: 'never' }, (ctx) => ctx.step('kill', () => new Promise<never>(() => {})))
  const harmless = procedure({ name: 'harmless' }, async (ctx) => {
    for (const name of ['one', 'two', 'three']) await ctx.step(name, () => name)
    return 'unharmed'
  })

  test('is quarantined after seven deaths, and its neighbour goes on', async () => {
    await using engine = await testEngine({ procedures: [never, harmless] })
    const killer = await engine.run(never)
    const neighbour = await engine.run(harmless)
    let deaths = 0
    for (; await isAtWork(killer, () => engine.calls['kill'] === deaths + 1); deaths++) await engine.crash()
    expect(deaths).toBe(7)
    await expect(killer.result()).rejects.toMatchObject({
      code: 'run-quarantined',
      details: { run: killer.id },
    })
    expect(await neighbour.result()).toBe('unharmed')
  })

  /** Waits until its body is called once more: true; or it is not executed any more: false. */
  async function isAtWork(run: RunHandle<unknown>, isCalled: () => boolean): Promise<boolean> {
    for (;;) {
      if (isCalled()) return true
      if ((await run.status()).status === 'quarantined') return false
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
})

describe('a stop', () => {
  const keys: string[] = []
  const slow = procedure({ name: 'slow' }, (ctx) =>
    ctx.step(
      'work',
      ({ idempotencyKey, signal }) => {
        keys.push(idempotencyKey)
        return bench(signal)
      },
      { retry: false },
    ),
  )
  let bench: (signal: AbortSignal) => Promise<string>

  test('waits for a step at work, and what it gives is recorded', async () => {
    const store = memory()
    const first = await createEngine({ store, procedures: [slow] })
    let finish = (): void => {}
    const begun = new Promise<void>((tellBegun) => {
      bench = () => {
        tellBegun()
        return new Promise((resolve) => {
          finish = () => resolve('done')
        })
      }
    })
    const run = await first.run(slow)
    await begun
    const stopped = first.stop()
    setTimeout(finish, 50)
    await stopped
    bench = () => Promise.reject(new Error('was called again'))
    const second = await createEngine({ store, procedures: [slow] })
    expect(await second.get(slow, run.id).result()).toBe('done')
    await second.stop()
  })

  test('does not wait longer than it may; the step is told, and runs again elsewhere with the same key', async () => {
    const store = memory()
    const first = await createEngine({ store, procedures: [slow] })
    keys.length = 0
    let told: AbortSignal | undefined
    const begun = new Promise<void>((tellBegun) => {
      bench = (signal) => {
        told = signal
        tellBegun()
        return new Promise(() => {})
      }
    })
    const run = await first.run(slow)
    await begun
    await first.stop({ within: '10ms' })
    expect(told?.aborted).toBe(true)
    bench = () => Promise.resolve('done elsewhere')
    const second = await createEngine({ store, procedures: [slow] })
    expect(await second.get(slow, run.id).result()).toBe('done elsewhere')
    expect(keys).toEqual([keys[0], keys[0]])
    await second.stop()
  })
})

test('without any hint a worker finds what another process has left within about a second', async () => {
  const order = procedure({ name: 'order', signals: { paid: z.void() } }, (ctx) => ctx.receive('paid'))
  const shared = memory()
  const engine = await createEngine({ store: withoutHints(shared), procedures: [order] })
  const client = createClient({ store: shared })
  const run = await client.run(order)
  const began = performance.now()
  await run.signal('paid')
  expect(await run.result({ timeout: '20s' })).toBe(true)
  // Two polls of a second: the worker finds the run, and the client its end.
  expect(performance.now() - began).toBeLessThan(8_000)
  await client.stop()
  await engine.stop()
})

/** A store that never tells that something has changed. */
function withoutHints(store: Store): Store {
  return defineStore('memory without hints', () => {
    const port = connectTo(store)
    if (port === undefined) throw new Error('this is no store')
    port.watch = () => () => {}
    return port
  })
}

test('a logger that throws stops nothing', async () => {
  const loud = procedure({ name: 'loud' }, async (ctx) => {
    ctx.log.info('begun')
    await ctx.human.notify('It has begun')
    return 'done'
  })
  const fail = (): never => {
    throw new Error('the log is full')
  }
  const logger = { debug: fail, info: fail, warn: fail, error: fail }
  const engine = await createEngine({ store: memory(), procedures: [loud], logger })
  expect(await (await engine.run(loud)).result({ timeout: '20s' })).toBe('done')
  await engine.stop()
})
