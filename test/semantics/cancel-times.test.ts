import { createClient, createEngine, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { minute, silent } from './support.ts'

const order = procedure({ name: 'order', grace: '5m' }, async (ctx) => {
  await ctx.step('hold the card', () => 'hold-1', { undo: () => 'released' })
  try {
    await ctx.race({ paid: ctx.human.approve('Paid?'), late: ctx.sleep('3d') })
  } finally {
    await ctx.shield((ctx) => ctx.step('tell the shop', () => 'told'))
  }
})
const endless = procedure({ name: 'endless', grace: '5m' }, async (ctx) => {
  await ctx.shield((ctx) => ctx.sleep('1d'))
})

const never = () => new Promise<boolean>(() => {})

describe('a check that never settles', () => {
  const receiving = procedure(
    { name: 'receiving', signals: { go: z.number().refine(never) } },
    async (ctx) => void (await ctx.receive('go')),
  )

  test('of a signal, does not hold back a cancel', async () => {
    const store = memory()
    const engine = await createEngine({ store, procedures: [receiving] })
    const client = createClient({ store })
    const run = await engine.run(receiving)
    // This client does not have the schema, so the worker checks the signal.
    await client.get(run.id).signal('go', 1)
    await engine.cancel(run.id)
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect((await run.status()).leftOver.signals).toEqual(['go'])
    await client.stop()
    await engine.stop()
  })

  test.each(['is cancelled', 'returns'])('of an answer, is not awaited by a run that %s', async (ends) => {
    const asking = procedure({ name: 'asking', signals: { go: z.void() } }, async (ctx) => {
      const asked = ctx.human.input('How many?', z.number().refine(never))
      asked.catch(() => {})
      await ctx.receive('go')
    })
    const store = memory()
    const engine = await createEngine({ store, procedures: [asking] })
    const client = createClient({ store })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    // This client does not have the schema, so the worker checks the answer.
    await client.inbox.answer(ask.id, { value: 5 }, { as: 'user:ana' })
    if (ends === 'returns') await run.signal('go')
    else await run.cancel()
    const code = await run.result().then(
      () => 'returned',
      (error: { readonly code: string }) => error.code,
    )
    expect(code).toBe(ends === 'returns' ? 'returned' : 'run-cancelled')
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'answered' })
    await client.stop()
    await engine.stop()
  })
})

test('a run that returns does not await the check of an answer that came before its ask', async () => {
  const asking = procedure({ name: 'asking', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    const asked = ctx.human.input('How many?', z.number().refine(never), { key: 'count' })
    asked.catch(() => {})
    await ctx.receive('go')
  })
  const store = memory()
  const engine = await createEngine({ store, procedures: [asking] })
  const client = createClient({ store })
  const run = await engine.run(asking)
  await client.inbox.answer({ run: run.id, key: 'count' }, { value: 5 }, { as: 'user:ana' })
  await run.signal('go')
  await run.signal('go')
  await run.result()
  await client.stop()
  await engine.stop()
})

test('an undo that outlasts the grace still completes, and is recorded', async () => {
  let attempts = 0
  const slow = procedure({ name: 'slow', grace: '1ms' }, async (ctx) => {
    ctx.onRollback('release', () => {
      attempts += 1
      if (attempts === 1) throw new Error('not yet')
    })
    await ctx.sleep('3d')
  })
  await using engine = await testEngine({ procedures: [slow] })
  const run = await engine.run(slow)
  await engine.advance('1h')
  await engine.cancel(run.id)
  await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect((await run.status()).rollback).toMatchObject({ undone: ['release'], failed: [] })
  expect(attempts).toBe(2)
})

describe.each(['never', 'every'] as const)(
  "with a crash after %s commit, an approval with onReject: 'cancel-run'",
  (crash) => {
    const consenting = procedure({ name: 'consenting', signals: { go: z.number() } }, async (ctx) => {
      ctx.onRollback('undo', () => {})
      await Promise.all([
        ctx.human.approve('Go?', { timeout: '1h', onReject: 'cancel-run' }),
        ctx
          .receive('go')
          .catch(() => ctx.shield(async (inner: typeof ctx) => void (await inner.receive('go')))),
      ])
    })

    test('is forced to its end while a shield waits, and undoes all', async () => {
      await using engine = await testEngine({ procedures: [consenting], humans: silent })
      if (crash === 'every') await engine.crash('every')
      const run = await engine.run(consenting)
      await engine.advance('2h')
      await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
      const { endedAt, cancelRequestedAt, rollback } = await run.status()
      expect(rollback).toMatchObject({ undone: ['undo'] })
      expect(Number(endedAt) - Number(cancelRequestedAt)).toBe(minute)
    })

    test('cancels its run at its timeout, and leaves later messages to the cleanup', async () => {
      await using engine = await testEngine({ procedures: [consenting], humans: silent })
      if (crash === 'every') await engine.crash('every')
      const run = await engine.run(consenting)
      await engine.advance('1h')
      await run.signal('go', 7)
      await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
      expect(await run.status()).toMatchObject({
        ...{ status: 'cancelled', cancelReason: '"Go?" was not answered in time' },
        rollback: { undone: ['undo'] },
        leftOver: { signals: [] },
      })
    })

    test('cancels its run from within a shield, where its no rejects as well', async () => {
      const seen: unknown[] = []
      const shielded = procedure({ name: 'shielded' }, async (ctx) => {
        await ctx.shield((inner) =>
          inner.human
            .approve('Go?', { onReject: 'cancel-run' })
            .catch((error: { readonly code: string }) => seen.push(error.code)),
        )
        await ctx.sleep('1d')
      })
      await using engine = await testEngine({
        procedures: [shielded],
        humans: [{ ask: /./, answer: { approved: false } }],
      })
      if (crash === 'every') await engine.crash('every')
      const run = await engine.run(shielded)
      await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
      expect(new Set(seen)).toEqual(new Set(['cancelled']))
    })
  },
)

describe.each(['never', 'every'] as const)('with a crash after %s commit, a cancelled run', (crash) => {
  test('a cancelled run cleans up and undoes, once each', async () => {
    await using engine = await testEngine({ procedures: [order], humans: silent })
    if (crash === 'every') await engine.crash('every')
    const run = await engine.run(order)
    await engine.advance('1h')
    await engine.cancel(run.id, 'customer called', { by: 'user:ana' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    const { execution_log } = await engine.log(run.id)
    expect(execution_log.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'step done',
      'hitl_approval withdrawn',
      'step done',
      'undo done',
    ])
    expect(await run.status()).toMatchObject({
      status: 'cancelled',
      cancelReason: 'customer called',
      rollback: { undone: ['hold the card'], failed: [] },
    })
    expect((await engine.inbox.list()).items).toEqual([])
  })

  test('a cancelled run ends when its grace has passed', async () => {
    await using engine = await testEngine({ procedures: [endless] })
    if (crash === 'every') await engine.crash('every')
    const run = await engine.run(endless)
    await engine.advance('1h')
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    const { endedAt, cancelRequestedAt } = await run.status()
    expect(Number(endedAt) - Number(cancelRequestedAt)).toBe(5 * minute)
  })
})

describe('a worker that dies before it has recorded a cancel', () => {
  test.each(['on-crash', 'always'] as const)(
    'the next worker starts no step that the cancel closes, starts shielded ones, and undoes, with replay: %s',
    async (replay) => {
      const begun: string[] = []
      let hangs = true
      const work = (name: string) => () => {
        begun.push(name)
        return hangs ? new Promise<void>(() => {}) : undefined
      }
      const isBegun = async (count: number) => {
        while (begun.length < count) await new Promise((resolve) => setImmediate(resolve))
      }
      const shipping = procedure({ name: 'shipping' }, async (ctx) => {
        ctx.onRollback('release', () => begun.push('release'))
        const noted = ctx.shield((own) => own.step('note', work('note')))
        await Promise.all([noted, ctx.step('ship', work('ship'))])
      })
      await using engine = await testEngine({ procedures: [shipping], replay })
      const run = await engine.run(shipping)
      await isBegun(2)
      // The second worker dies before it has written anything.
      await engine.crash()
      await isBegun(4)
      hangs = false
      await Promise.all([engine.crash(), run.cancel()])
      await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
      expect(begun).toEqual(['note', 'ship', 'note', 'ship', 'note', 'release'])
      expect((await run.status()).rollback).toMatchObject({ undone: ['release'], failed: [] })
    },
  )
})
