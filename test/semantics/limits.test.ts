import { agent, createClient, createEngine, type Engine, procedure, type Usage } from '@pawl/core'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from './support.ts'

// What is acknowledged can be recorded; what cannot be read puts its run aside, and no other.

const limitBytes = 2 * 1024 * 1024
const as = { as: 'user:ana' } as const
const receiving = procedure({ name: 'receiving', signals: { x: z.any() } }, async (ctx) => {
  await ctx.receive('x')
  return 'received'
})

let engine: Engine
const start = async (procedures: Parameters<typeof createEngine>[0]['procedures'], store = memory()) => {
  const { logger } = keepLines()
  engine = await createEngine({ store, procedures, logger })
}
afterEach(() => engine.stop())

function nested(levels: number): unknown {
  let value: unknown = 1
  for (let level = 0; level < levels; level++) value = [value]
  return value
}

describe('what was acknowledged can be recorded', () => {
  test.each<[string, unknown]>([
    ['as deep as a payload may be', nested(256)],
    ['as large as a payload may be', 'x'.repeat(limitBytes - 5)],
  ])('a signal %s', async (_, payload) => {
    await start([receiving])
    const run = await engine.run(receiving)
    await run.signal('x', payload)
    expect(await run.result()).toBe('received')
  })

  test.each<[string, unknown]>([
    ['deep', nested(256)],
    ['large', 'x'.repeat(limitBytes - 5)],
  ])('an input that is too %s with what is stored around it is refused by its own name', async (_, input) => {
    const any = procedure({ name: 'any', input: z.any() }, async () => 1)
    await start([any])
    await expect(engine.run(any, input)).rejects.toMatchObject({
      code: 'payload-refused',
      details: { path: 'input' },
      message: expect.stringMatching(/^input is within the limits by itself/),
    })
  })

  test('the largest accepted answer can be recorded', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const value = await ctx.human.input('What?', z.string())
      return value.length
    })
    await start([asking])
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    const isTaken = (length: number) =>
      engine.inbox.answer(ask.id, { value: 'x'.repeat(length) }, as).then(
        () => true,
        () => false,
      )
    let length = limitBytes
    while (!(await isTaken(length))) length--
    expect(await run.result()).toBe(length)
  })
})

test('a question shows the newest earlier steps that fit', async () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    for (let i = 0; i < 5; i++) await ctx.step(`step ${i}`, () => 'x'.repeat(500_000))
    await ctx.human.approve('Fine?')
  })
  await start([asking])
  const run = await engine.run(asking)
  const ask = await engine.inbox.next({ run: run.id })
  expect(ask.history.map(({ step }) => step)).toEqual(['step 1', 'step 2', 'step 3', 'step 4'])
})

test('a run with tens of thousands of pending operations waits, and shows some of them', async () => {
  const patient = procedure({ name: 'patient', signals: { go: z.void() } }, async (ctx) => {
    const sleeps = Promise.all(Array.from({ length: 40_000 }, () => ctx.sleep('1h')))
    await Promise.race([sleeps, ctx.receive('go')])
  })
  await start([patient])
  const run = await engine.run(patient)
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 10))
  expect((await run.status()).waitingFor.length).toBe(100)
  await run.signal('go')
  await run.result()
  expect((await run.status()).leftOver?.operations.length).toBe(100)
})

test('an unreadable message marks its run as stuck, and other runs of the transaction continue', async () => {
  const store = memory()
  await start([receiving], store)
  const [a, b] = [await engine.run(receiving), await engine.run(receiving)]
  const connection = connectTo(store) as StorePort
  await connection.open()
  const later = new Uint8Array([0xc1, 1])
  const send = (run: string, payload: Uint8Array | null) =>
    connection.mail.send([{ run, kind: 'signal', name: 'x', key: null, by: null, payload }], null)
  await Promise.all([send(a.id, later), send(b.id, null)])
  expect(await b.result()).toBe('received')
  while ((await a.status()).status !== 'stuck') await new Promise((resolve) => setTimeout(resolve, 10))
  await connection.close()
})

describe('what a schema makes of it that cannot be recorded', () => {
  // No transformation, as far as can be told.
  const strange = z.object({ at: z.any().default(() => new URL('https://example.org')) })

  test('an answer whose parsed value cannot be recorded fails its question, and is kept', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.input('?', strange))
    const store = memory()
    await start([asking], store)
    const run = await engine.run(asking)
    const ask = await engine.inbox.next()
    const client = createClient({ store })
    await client.inbox.answer(ask.id, { value: {} }, as)
    await client.stop()
    await expect(run.result()).rejects.toMatchObject({
      details: {
        cause: { code: 'answer-invalid', message: expect.stringContaining('value.at cannot be recorded') },
      },
    })
    expect((await engine.log(run.id)).execution_log).toMatchObject([
      { result: { value: {}, by: 'user:ana' } },
    ])
  })

  test('a signal whose parsed value cannot be recorded is discarded, and the next one counts', async () => {
    const hearing = procedure({ name: 'hearing', signals: { x: strange } }, async (ctx) => ctx.receive('x'))
    const store = memory()
    await start([hearing], store)
    const run = await engine.run(hearing)
    const client = createClient({ store })
    await client.get(run.id).signal('x', {})
    await client.get(run.id).signal('x', { at: 1 })
    await client.stop()
    expect(await run.result()).toEqual({ at: 1 })
  })
})

/** `{}` in MessagePack. */
const noAnswer = new Uint8Array([0x80])

test('a message in an unknown format marks its run as stuck, and other runs continue', async () => {
  const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.input('?', z.any()))
  const store = memory()
  await start([asking, receiving], store)
  const [bad, good] = [await engine.run(asking), await engine.run(receiving)]
  while ((await engine.inbox.list()).items.length === 0)
    await new Promise((resolve) => setTimeout(resolve, 10))
  const connection = connectTo(store) as StorePort
  await connection.open()
  const { items } = await engine.inbox.list()
  await connection.asks.answer(
    [{ run: bad.id, position: items[0]?.position ?? 0, by: 'user:ana', payload: noAnswer }],
    null,
  )
  await good.signal('x', 1)
  expect(await good.result()).toBe('received')
  await expect(bad.result()).rejects.toMatchObject({
    code: 'run-quarantined',
    details: { reason: expect.stringContaining('internal error while processing the run') },
  })
  await connection.close()
})

describe('what an agent reports of its cost', () => {
  const costly = agent(
    { name: 'costly', input: z.number(), output: z.number(), retry: { attempts: 3, backoff: '1ms' } },
    async (chunks, { usage, attempt }) => {
      for (let i = 0; i < chunks; i++) usage({ model: 'big', inputTokens: 1, outputTokens: 2, costUsd: 0.5 })
      if (attempt < 3) throw new Error('in vain')
      return chunks
    },
  )
  const calling = procedure({ name: 'calling', input: z.number() }, (ctx, chunks) =>
    ctx.agent(costly, chunks),
  )

  test('many usage reports are added up, few are kept as reported', async () => {
    await start([calling])
    const sums: number[] = []
    for (const chunks of [2, 5_000]) {
      const run = await engine.run(calling, chunks)
      expect(await run.result()).toBe(chunks)
      const [entry] = (await engine.log(run.id)).execution_log
      const usage = (entry?.result as { readonly usage: Usage[] } | undefined)?.usage ?? []
      expect(usage.length).toBe(Math.min(20, 3 * chunks))
      sums.push(usage.reduce((sum, { inputTokens }) => sum + (inputTokens ?? 0), 0))
    }
    expect(sums).toEqual([6, 15_000])
  })

  test('usage of more models than the limit is added up as several models', async () => {
    const fickle = agent({ name: 'fickle', input: z.void(), output: z.string() }, async (_, { usage }) => {
      for (let i = 0; i < 22; i++) usage({ model: `m${i}`, inputTokens: 1, costUsd: 1 })
      return 'x'
    })
    const calling = procedure({ name: 'calling' }, (ctx) => ctx.agent(fickle, undefined))
    await start([calling])
    const run = await engine.run(calling)
    await run.result()
    const [entry] = (await engine.log(run.id)).execution_log
    const usage = (entry?.result as { readonly usage: Usage[] } | undefined)?.usage ?? []
    expect(usage).toHaveLength(20)
    expect(usage.at(-1)).toEqual({ model: 'several models', inputTokens: 3, costUsd: 3 })
  })

  test('usage omits unknown fields and keeps all fields that a provider reports', async () => {
    const vague = agent({ name: 'vague', input: z.void(), output: z.string() }, async (_, { usage }) => {
      const unknown = { model: '', outputTokens: Number.NaN, region: null, costUsd: undefined }
      usage({ ...unknown, inputTokens: 0, cached: { tokens: 5 } } as Usage)
      return 'x'
    })
    const calling = procedure({ name: 'calling' }, (ctx) => ctx.agent(vague, undefined))
    await start([calling])
    const run = await engine.run(calling)
    await run.result()
    const [entry] = (await engine.log(run.id)).execution_log
    expect(entry?.result).toStrictEqual({
      output: 'x',
      usage: [{ inputTokens: 0, cached: { tokens: 5 } }],
    })
  })

  test('an invalid usage report is refused', async () => {
    const wordy = agent({ name: 'wordy', input: z.any(), output: z.any() }, async (report, { usage }) => {
      usage(report)
    })
    const reporting = procedure({ name: 'reporting', input: z.any() }, (ctx, report) =>
      ctx.agent(wordy, report, { retry: { attempts: 1 } }),
    )
    await start([reporting])
    for (const [report, words] of [
      [{ model: 'x'.repeat(1_000) }, 'usage has 1010 bytes; the limit is 1000'],
      [5, 'The option usage cannot be 5'],
      [{ inputTokens: Number.POSITIVE_INFINITY }, 'It must be a number from 0.'],
      [{ outputTokens: -1 }, 'The option outputTokens of usage cannot be -1.'],
      [{ inputTokens: '5' }, "The option inputTokens of usage cannot be '5'."],
      [{ costUsd: -1 }, 'It must be a number from 0.'],
      [{ costUsd: Number.POSITIVE_INFINITY }, 'The option costUsd of usage cannot be Infinity.'],
      [{ model: 5 }, 'The option model of usage cannot be 5.'],
    ] as const)
      await expect((await engine.run(reporting, report)).result()).rejects.toThrow(words)
  })
})
