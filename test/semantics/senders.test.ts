import { createEngine, type Engine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'

const listen = procedure(
  {
    name: 'listen',
    signals: { add: z.number(), go: z.void() },
    updates: { rename: { input: z.string(), output: z.string() } },
  },
  async (ctx) => {
    ctx.on('rename', (name, { by }) => `${name} by ${by}`)
    const next = await ctx.receiveAny(['add'])
    await ctx.receive('go')
    return next.by ?? 'no one'
  },
)
const flaky = procedure({ name: 'flaky', signals: { add: z.number() } }, async (ctx): Promise<unknown> => {
  const first = ctx.receiveAny(['add'])
  await ctx.step('fail', () => Promise.reject(new Error('down')), { retry: false })
  return (await first).by
})
const again = procedure({ name: 'again', signals: { add: z.number() } }, async (ctx): Promise<unknown> => {
  const { payload, by } = await ctx.receiveAny(['add'])
  return payload === 0 ? ctx.continueAs() : by
})
const sending = procedure({ name: 'sending' }, async (ctx) => {
  await ctx.get(listen, 'l').signal('add', 1, { by: 'agent:planner' })
})

async function start(): Promise<Engine> {
  const engine = await createEngine({ store: memory(), procedures: [listen, flaky, again, sending] })
  onTestFinished(() => engine.stop())
  return engine
}

const resultsOf = async (engine: Engine, run: string) =>
  (await engine.log(run)).execution_log.map(({ result }) => result)

describe('who sends', () => {
  test('a signal or an update is in the log, and the procedure can see it', async () => {
    const engine = await start()
    const run = await engine.run(listen, undefined, { id: 'l' })
    expect(await run.update('rename', 'Blue', { by: 'user:bob' })).toBe('Blue by user:bob')
    await run.signal('add', 1, { by: 'user:ana' })
    await run.signal('go', { by: 'user:eve' })
    expect(await run.result()).toBe('user:ana')
    expect(await resultsOf(engine, 'l')).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'add', by: 'user:ana' }),
        expect.objectContaining({ name: 'go', by: 'user:eve' }),
        expect.objectContaining({ input: 'Blue', by: 'user:bob' }),
      ]),
    )
  })

  test('is undefined if the sender does not say so', async () => {
    const engine = await start()
    const run = await engine.run(listen, undefined, { id: 'l' })
    expect(await run.update('rename', 'Blue')).toBe('Blue by undefined')
    await run.signal('add', 1)
    await run.signal('go')
    expect(await run.result()).toBe('no one')
    for (const result of await resultsOf(engine, 'l')) expect(result).not.toHaveProperty('by')
  })

  test('must be an actor', async () => {
    const engine = await start()
    const run = await engine.run(listen, undefined, { id: 'l' })
    const option = { code: 'option-invalid' }
    await expect(run.signal('add', 1, { by: 'ana' as 'user:ana' })).rejects.toMatchObject(option)
    await expect(run.update('rename', 'x', { by: 'ana' as 'user:ana' })).rejects.toMatchObject(option)
  })

  test('another run can say so, too', async () => {
    const engine = await start()
    const run = await engine.run(listen, undefined, { id: 'l' })
    await (await engine.run(sending)).result()
    await run.signal('go')
    expect(await run.result()).toBe('agent:planner')
  })

  test('stays with a signal that a retry sends again', async () => {
    const engine = await start()
    const run = await engine.run(flaky, undefined, { id: 'f' })
    await run.signal('add', 1, { by: 'user:ana' })
    await run.result().catch(() => {})
    const { execution_log: before } = await engine.log('f')
    expect(before.map(({ type }) => type)).toContain('signal')
    await engine.retry('f')
    await run.result().catch(() => {})
    for (const { type, result } of (await engine.log('f')).execution_log)
      if (type === 'signal' && result !== null) expect(result).toMatchObject({ by: 'user:ana' })
  })

  test('stays with a signal that the next generation receives, and in an export', async () => {
    const engine = await start()
    const run = await engine.run(again, undefined, { id: 'a' })
    await run.signal('add', 0)
    await run.signal('add', 1, { by: 'user:ana' })
    expect(await run.result()).toBe('user:ana')

    const waiting = await engine.run(listen, undefined, { id: 'l' })
    await waiting.signal('add', 1, { by: 'user:ana' })
    const file = await engine.export('l')
    const other = await start()
    const moved = await other.import(file)
    await moved.signal('go')
    expect(await moved.result()).toBe('user:ana')
  })

  test('of an edited signal is who forks', async () => {
    const engine = await start()
    const run = await engine.run(again, undefined, { id: 'a' })
    await run.signal('add', 1, { by: 'user:ana' })
    await run.result()
    const edit = { 0: 2 }
    const named = await engine.fork('a', { position: 1 }, { edit, by: 'user:olga' })
    expect(await named.result()).toBe('user:olga')
    const unnamed = await engine.fork('a', { position: 1 }, { edit })
    expect(await unnamed.result()).toBeUndefined()
  })
})
