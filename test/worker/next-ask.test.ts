import { createEngine, procedure, type Store } from '@pawl/core'
import { consoleLogger, createConnectedClient, Notifier, systemPorts } from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

/** Nothing makes a client look that has this clock but the notifier. */
const ports = {
  ...systemPorts,
  clock: { ...systemPorts.clock, after: () => () => {} },
  logger: consoleLogger,
}

/** A client of a store on which nobody is asked, with the runs whose asks it looked for. */
function watchLooks(store: Store) {
  const looks: (string | null)[] = []
  const port = connectTo(store) as StorePort
  const list: StorePort['asks']['list'] = async ({ run }) => {
    looks.push(run)
    return []
  }
  const watched = { ...port, asks: { ...port.asks, list } }
  const notifier = new Notifier()
  const client = createConnectedClient({ ...ports, store: watched, notifier, localWorker: undefined })
  return { client, notifier, looks }
}

test('a caller that waits for a question of one run reads only when that run asks', async () => {
  const { client, notifier, looks } = watchLooks(memory())
  const waits = [client.inbox.next({ run: 'a' }), client.inbox.next({ run: 'b' }), client.inbox.next()]
  await expect.poll(() => looks).toEqual(['a', 'b', null])
  for (const [topic, seen] of [
    ['asks of a', ['a']],
    ['asks', [null]],
  ] as const) {
    looks.length = 0
    notifier.notify(topic)
    await expect.poll(() => looks).toEqual(seen)
  }
  await client.stop()
  for (const wait of waits) await expect(wait).rejects.toMatchObject({ code: 'engine-stopped' })
})

test('a client without a worker reads when the store hints at a write of another process', async () => {
  const store = memory()
  const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?'))
  const port = connectTo(store) as StorePort
  const client = createConnectedClient({
    ...ports,
    store: port,
    notifier: new Notifier(),
    localWorker: undefined,
  })
  const asked = client.inbox.next()
  const engine = await createEngine({ store, procedures: [asking] })
  const run = await engine.run(asking)
  const { id } = await asked
  const ended = client.get(asking, run.id).result()
  await engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  expect(await ended).toMatchObject({ approved: true })
  await client.stop()
  await engine.stop()
})

describe('waiting for the next ask of one run', () => {
  const greet = procedure({ name: 'greet', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    return 'hello'
  })
  const broken = procedure({ name: 'broken' }, async () => {
    throw new Error('no luck')
  })

  test('waiting for the next ask rejects with run-ended if the run has ended', async () => {
    await using engine = await testEngine({ procedures: [greet, broken] })
    const run = await engine.run(greet, undefined, { id: 'greet:1' })
    await run.signal('go')
    await run.result()
    const refusal = engine.inbox.next({ run: 'greet:1' })
    await expect(refusal).rejects.toMatchObject({
      code: 'run-ended',
      details: { run: 'greet:1', status: 'completed' },
      message:
        "Run greet:1 has already ended with status 'completed'. It has no open ask and will not open one. Start a run with a different id to be asked again.",
    })
    const failed = await engine.run(broken)
    await failed.result().catch(() => {})
    await expect(engine.inbox.next({ run: failed.id, to: 'user:ana', timeout: '1h' })).rejects.toMatchObject({
      code: 'run-ended',
      details: { run: failed.id, status: 'failed' },
    })
  })

  // With this clock only the notifier makes a client look again.
  test.each(['beside its worker', 'in another process'])(
    'rejects when the run ends meanwhile, %s',
    async (place) => {
      const store = memory()
      const engine = await createEngine({ store, procedures: [greet] })
      const client = createConnectedClient({
        ...{
          ...ports,
          store: connectTo(store) as StorePort,
          notifier: new Notifier(),
          localWorker: undefined,
        },
      })
      const run = await engine.run(greet)
      const waiting = (place === 'beside its worker' ? engine : client).inbox.next({ run: run.id })
      const outcome = waiting.catch((error: unknown) => error)
      await run.signal('go')
      await run.result()
      expect(await outcome).toMatchObject({
        code: 'run-ended',
        details: { run: run.id, status: 'completed' },
      })
      await client.stop()
      await engine.stop()
    },
  )

  test('waiting for the next ask waits for a run that does not exist yet', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?'))
    await using engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: /./, answer: { approved: true } }],
    })
    const asked = engine.inbox.next({ run: 'asking:1' })
    await engine.run(asking, undefined, { id: 'asking:1' })
    expect((await asked).run).toBe('asking:1')
  })

  test('waiting for the next ask finds an open ask, whatever ended before', async () => {
    const twice = procedure({ name: 'twice' }, async (ctx) => {
      await ctx.human.approve('First?')
      await ctx.human.approve('Second?')
    })
    await using engine = await testEngine({ procedures: [twice] })
    const run = await engine.run(twice)
    for (const message of ['First?', 'Second?']) {
      const ask = await engine.inbox.next({ run: run.id })
      expect(ask.message).toBe(message)
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    }
    await run.result()
    await expect(engine.inbox.next({ run: run.id })).rejects.toMatchObject({ code: 'run-ended' })
  })
})
