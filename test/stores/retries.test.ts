import { createClient, createEngine, type Engine, type Logger, procedure } from '@pawl/core'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
/** More than a page of children, and than the end of a run cancels in a unit. */
const crowdSize = 230
const once = { retry: { attempts: 1 } } as const

describe('a retry of a failed run', () => {
  const makePlace = makePlaces()
  /** A family of three: the child of the child fails, and so do all above it. Steps count their calls. */
  async function setUp() {
    const place = await makePlace()
    const calls: string[] = []
    const state = { isBroken: true }
    const note = (name: string) => () => void calls.push(name)
    const last = procedure({ name: 'last' }, async (ctx) => {
      await ctx.step('reserve', note('reserve'))
      return ctx.step(
        'charge',
        ({ idempotencyKey }) => {
          calls.push(`charge ${idempotencyKey}`)
          if (state.isBroken) throw new Error('card declined')
          return 'paid'
        },
        once,
      )
    })
    const middle = procedure({ name: 'middle' }, async (ctx) => {
      await ctx.step('check', note('check'))
      return ctx.call(last, undefined, { id: 'last' })
    })
    const first = procedure({ name: 'first' }, async (ctx) => {
      await ctx.step('load', note('load'))
      return ctx.call(middle, undefined, { id: 'middle' })
    })
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      await ctx.step('load', note('load'))
      const { approved } = await ctx.human.approve('Go?', {
        ...{ key: 'go', timeout: '1ms', onTimeout: state.isBroken ? 'fail' : 'reject' },
      })
      return approved
    })
    const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, async (ctx) => {
      await ctx.step('arrive', () => 'here')
      // What it waits for has no result yet, so the mended code need not wait.
      if (state.isBroken) await ctx.receive('go')
    })
    const crowd = procedure({ name: 'crowd' }, async (ctx) => {
      const items = Array.from({ length: crowdSize }, (_, i) => i)
      const handles = await ctx.map(items, (i, own) => own.spawn(waiting, undefined, { id: `w:${i}` }), {
        concurrency: crowdSize,
      })
      await ctx.step('charge', () => (state.isBroken ? Promise.reject(new Error('declined')) : 'paid'), once)
      return (await Promise.all(handles.map((handle) => handle.result()))).length
    })
    const engines: Engine[] = []
    onTestFinished(async () => {
      for (const engine of engines) await engine.stop()
      await place.remove()
    })
    const { store } = place
    const engine = await createEngine({
      ...{ store, logger: silent, procedures: [first, middle, last, asking, crowd, waiting] },
    })
    engines.push(engine)
    return { store, engine, calls, state, first, asking, crowd }
  }

  const expectOnce = (calls: readonly string[]): void => {
    const charges = calls.filter((call) => call.startsWith('charge'))
    expect(calls.filter((call) => !call.startsWith('charge')).sort()).toEqual(['check', 'load', 'reserve'])
    expect(charges).toHaveLength(2)
    expect(new Set(charges).size).toBe(1)
  }

  /** The other call was faster. */
  const expectEnded = (error: unknown): void => expect(error).toMatchObject({ code: 'run-ended' })

  test('a failed run continues with its children, and repeats nothing', async () => {
    const { engine, calls, state, first } = await setUp()
    const run = await engine.run(first, undefined, { id: 'first' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    expect(await engine.previewRetry('first')).toMatchObject({
      ...{ position: 1, kept: 1, more: 0, undone: [], children: ['last', 'middle'] },
      operations: [{ position: 1, type: 'child', name: 'middle', does: 'effect', becomes: 'repeated' }],
    })
    await engine.retry('first')
    expect(await run.result()).toBe('paid')
    expectOnce(calls)
    for (const id of ['first', 'middle', 'last'])
      expect(await engine.get(id).status()).toMatchObject({ status: 'completed', generation: 2 })
    expect((await engine.list({ parent: 'middle' })).items.map(({ id }) => id)).toEqual(['last'])
  })

  test.each(['before', 'after'] as const)(
    'a retry that is killed %s its write has continued no run of the family, or all of them',
    async (when) => {
      const { store, engine, calls, state, first } = await setUp()
      const run = await engine.run(first, undefined, { id: 'first' })
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      state.isBroken = false
      const meddling = meddleWith(store)
      let writes = 0
      meddling.always('runs.restart', async (go) => {
        writes++
        if (when === 'after') await go()
        throw new Error('killed')
      })
      const client = createClient({ store: meddling.store })
      await expect(client.retry('first')).rejects.toThrow('killed')
      await client.stop()
      expect(writes).toBe(1)
      if (when === 'before') {
        for (const id of ['first', 'middle', 'last'])
          expect(await engine.get(id).status()).toMatchObject({ status: 'failed', generation: 1 })
        await engine.retry('first')
      }
      expect(await run.result()).toBe('paid')
      expectOnce(calls)
      for (const id of ['first', 'middle', 'last'])
        expect(await engine.get(id).status()).toMatchObject({ status: 'completed', generation: 2 })
    },
  )

  test('of many retries at once one counts', async () => {
    const { engine, calls, state, first } = await setUp()
    const run = await engine.run(first, undefined, { id: 'first' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await Promise.all(Array.from({ length: 8 }, () => engine.retry('first').catch(expectEnded)))
    expect(await run.result()).toBe('paid')
    expectOnce(calls)
    expect((await run.status()).generation).toBe(2)
  })

  test('a failed run continues with all its children, however many its end has cancelled', async () => {
    const { engine, state, crowd } = await setUp()
    const run = await engine.run(crowd, undefined, { id: 'crowd' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    const children = async (status: 'cancelled' | 'completed') => {
      const ids: string[] = []
      let cursor: string | undefined
      do {
        const page = await engine.list({ parent: 'crowd', status, limit: 100, cursor })
        ids.push(...page.items.map(({ id }) => id))
        cursor = page.cursor
      } while (cursor !== undefined)
      return ids
    }
    await expect.poll(async () => (await children('cancelled')).length, { timeout: 30_000 }).toBe(crowdSize)
    state.isBroken = false
    expect((await engine.previewRetry('crowd')).children).toHaveLength(crowdSize)
    await engine.retry('crowd')
    expect(await run.result()).toBe(crowdSize)
    expect(await children('completed')).toHaveLength(crowdSize)
  })

  test('the row of a question that has timed out is replaced', async () => {
    const { engine, state, asking } = await setUp()
    const run = await engine.run(asking, undefined, { id: 'a' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    state.isBroken = false
    await engine.retry('a')
    expect(await run.result()).toBe(false)
    const { items } = await engine.inbox.list({ run: 'a', status: 'timed-out' })
    expect(items.map(({ position, key }) => [position, key])).toEqual([
      [1, undefined],
      [1, 'go'],
    ])
  })

  describe('a child whose result the retry discards', () => {
    /** A parent that pays before it asks for its child, and fails after it because it could not pay. */
    async function failBehindChild(how: 'call' | 'spawn' | 'detach') {
      const place = await makePlace()
      const mails: string[] = []
      const state = { isBroken: true, beforePaying: async () => {} }
      const child = procedure({ name: 'child' }, async (ctx) => {
        await ctx.step('send mail', ({ idempotencyKey }) => void mails.push(idempotencyKey))
      })
      const pay = async (): Promise<string> => {
        await state.beforePaying()
        if (state.isBroken) throw new Error('declined')
        return 'paid'
      }
      const parent = procedure({ name: 'parent' }, async (ctx) => {
        const paid = await ctx.step('pay', pay, once).catch((error: unknown) => error)
        if (how === 'call') await ctx.call(child, undefined, { id: 'c' })
        else {
          const onParentEnd = how === 'detach' ? how : 'cancel'
          await (await ctx.spawn(child, undefined, { id: 'c', onParentEnd })).result()
        }
        if (paid instanceof Error) throw paid
        return paid
      })
      const stores = meddleWith(place.store)
      const engine = await createEngine({ store: stores.store, logger: silent, procedures: [parent, child] })
      onTestFinished(async () => {
        await engine.stop()
        await place.remove()
      })
      const run = await engine.run(parent, undefined, { id: 'p' })
      await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
      state.isBroken = false
      return { engine, run, stores, state, mails }
    }

    test.each(['call', 'spawn', 'detach'] as const)(
      'is not deleted before the retried run has asked for it again: %s',
      async (how) => {
        const { engine, run, state, mails } = await failBehindChild(how)
        state.beforePaying = () =>
          expect(engine.delete('c')).rejects.toMatchObject({ code: 'run-live', details: { parent: 'p' } })
        await engine.retry('p')
        expect(await run.result()).toBe('paid')
        expect(mails).toHaveLength(1)
        await engine.delete('c')
      },
    )

    test.each(['call', 'spawn', 'detach'] as const)(
      'is not created again if it is deleted during the retry, and continues once it is imported: %s',
      async (how) => {
        const { engine, run, stores, mails } = await failBehindChild(how)
        const file = await engine.export('c')
        stores.next('runs.restart', async (go, _, store) => {
          const row = await store.runs.find('c')
          const isRestarted = await go()
          await store.removals.remove(row === null ? [] : [row.run])
          return isRestarted
        })
        await engine.retry('p')
        const cause = { code: 'run-not-found', message: expect.stringContaining('was not created again') }
        await expect(run.result()).rejects.toMatchObject({ code: 'run-failed', details: { cause } })
        const refusal = { code: 'run-ended', details: { run: 'p', child: 'c' } }
        await expect(engine.retry('p')).rejects.toMatchObject(refusal)
        await engine.import(file)
        await engine.retry('p')
        expect(await run.result()).toBe('paid')
        expect(mails).toHaveLength(1)
      },
    )
  })
})
