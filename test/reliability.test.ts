import { createEngine, procedure, type RunHandle } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'

// Cases of docs/reports/reliability-cases.md that no other test is about.

describe('a run that kills its worker', () => {
  const never = procedure({ name: 'never' }, (ctx) => ctx.step('kill', () => new Promise<never>(() => {})))
  // Twice its worker dies while it is at work, and it has done nothing wrong.
  const harmless = procedure({ name: 'harmless' }, (ctx) =>
    ctx.step('near', () => (++nearCalls > 2 ? 'unharmed' : new Promise<never>(() => {}))),
  )
  let nearCalls = 0

  test('a run that kills its worker is quarantined after seven crashes, and other runs complete', async () => {
    await using engine = await testEngine({ procedures: [never, harmless] })
    const killer = await engine.run(never)
    const neighbour = await engine.run(harmless)
    let deaths = 0
    for (; await isAtWork(killer, () => engine.calls['kill'] === deaths + 1); deaths++) {
      // From then on the killer is the only suspect.
      if (deaths === 2) expect(await neighbour.result()).toBe('unharmed')
      await engine.crash()
    }
    expect(deaths).toBe(7)
    await expect(killer.result()).rejects.toMatchObject({
      code: 'run-quarantined',
      details: { run: killer.id },
    })
    expect(engine.calls).toEqual({ kill: 7, near: 3 })
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

test('a step that a stop does not wait for is logged, and runs again in another worker with the same key', async () => {
  const keys: string[] = []
  let reported: AbortSignal | undefined
  const slow = procedure({ name: 'slow' }, (ctx) =>
    ctx.step('work', ({ idempotencyKey, signal }) => {
      keys.push(idempotencyKey)
      return work(signal)
    }),
  )
  let work: (signal: AbortSignal) => Promise<string>

  const store = memory()
  const first = await createEngine({ store, procedures: [slow] })
  const isAtWork = new Promise<void>((tell) => {
    work = (signal) => {
      reported = signal
      tell()
      return new Promise(() => {})
    }
  })
  const run = await first.run(slow)
  await isAtWork
  await first.stop({ within: '10ms' })
  expect(reported?.aborted).toBe(true)

  work = () => Promise.resolve('done elsewhere')
  const second = await createEngine({ store, procedures: [slow] })
  expect(await second.get(slow, run.id).result()).toBe('done elsewhere')
  expect(keys).toEqual([keys[0], keys[0]])
  await second.stop()
})

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
  expect(await (await engine.run(loud)).result()).toBe('done')
  await engine.stop()
})
