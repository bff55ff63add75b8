import {
  createClient,
  createEngine,
  type Engine,
  type EngineOptions,
  procedure,
  type Store,
} from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine, withoutPolls, withoutTimers } from '../support/bare-engine.ts'
import { type MeddlingStore, meddleWith, type Step } from '../support/meddling-store.ts'

// Messages that come at the worst moment: when a unit that was decided without them is on its way.

const as = { as: 'user:ana' } as const
const quiet = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

let engine: Engine | undefined
afterEach(() => engine?.stop())

/** An engine, and a client of another process that can do something right before a unit is written. */
async function start(
  procedures: EngineOptions['procedures'],
  { hearing = 'well', inner = memory() }: { hearing?: 'deaf' | 'well'; inner?: Store } = {},
) {
  const meddling = meddleWith(inner)
  if (hearing === 'deaf') meddling.always('watch', () => (() => {}) as never)
  engine = await createEngine({ store: meddling.store, procedures, logger: quiet })
  const client = createClient({ store: inner })
  return { engine, client, meddling }
}

/** From now on the worker finds nothing by polling: what it goes on with has been told to it. */
function blindPolls(meddling: MeddlingStore): void {
  meddling.always('claims.claim', async () => ({ runs: [], at: Date.now(), nextDueAt: null }))
  meddling.always('mail.counters', async () => [])
}

/** Right before the first unit that fits is written, does something; says how often units have been refused since. */
function beforeUnit(
  meddling: MeddlingStore,
  fits: (unit: Unit) => boolean,
  act: () => Promise<unknown>,
): () => number {
  let refused = 0
  const step: Step = async (go) => {
    await act()
    const outcomes = (await go()) as readonly { readonly outcome: string }[]
    refused += outcomes.filter(({ outcome }) => outcome === 'mail').length
    return outcomes
  }
  meddling.next('log.commit', step, ([, units]) => (units as readonly Unit[]).some(fits))
  return () => refused
}

const settles = ({ events }: Unit): boolean => events.some(({ type }) => type === 'settled')
const wakes = ({ events }: Unit): boolean =>
  events.some(({ type, kind }) => type === 'settled' && kind === 'timer')
const ends = ({ next }: Unit): boolean => next.do === 'end'

describe('a message that comes while a unit is on its way', () => {
  test('a message during a commit wins against the timeout of its receive', async () => {
    const order = procedure({ name: 'order', signals: { paid: z.number() } }, (ctx) =>
      ctx.receive('paid', { timeout: '20ms' }),
    )
    const { engine, client, meddling } = await start([order])
    const refused = beforeUnit(meddling, settles, () => client.get(order, 'a').signal('paid', 5))
    const run = await engine.run(order, undefined, { id: 'a' })
    expect(await run.result()).toBe(5)
    expect(refused()).toBe(1)
    expect((await engine.log('a')).execution_log).toHaveLength(1)
  })

  test('a message during a commit wins against the timeout of its question', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?', { timeout: '400ms' }))
    // The clock of the store stands: to the store every answer is in time.
    const at = Date.now()
    const { engine, client, meddling } = await start([asking], {
      hearing: 'deaf',
      inner: memory({ now: () => at }),
    })
    const run = await engine.run(asking, undefined, { id: 'a' })
    const ask = await engine.inbox.next()
    const refused = beforeUnit(meddling, settles, async () => {})
    await client.inbox.answer(ask.id, { approved: true }, as)
    expect(await run.result()).toMatchObject({ approved: true })
    expect(refused()).toBe(1)
    expect((await engine.log('a')).execution_log).toMatchObject([
      { status: 'done', result: { timed_out: false } },
    ])
  })

  test('a message during a commit precedes a sleep that ends beside its question', async () => {
    const racing = procedure({ name: 'racing', signals: { sleep: z.void() } }, (ctx) => {
      const sleep = async () => {
        await ctx.receive('sleep')
        await ctx.sleep('1ms')
        return 'timer'
      }
      return Promise.race([ctx.human.approve('Now?').then(() => 'answer'), sleep()])
    })
    const { engine, client, meddling } = await start([racing])
    const refused = beforeUnit(meddling, wakes, () => client.inbox.answer('a/0', { approved: true }, as))
    const run = await engine.run(racing, undefined, { id: 'a' })
    await engine.inbox.next()
    await run.signal('sleep')
    expect(await run.result()).toBe('answer')
    expect(refused()).toBe(1)
    // All were recorded, the answer before the timer: the timer had fired as well.
    expect((await engine.log('a')).execution_log.map(({ status }) => status)).toEqual([
      'done',
      'done',
      'done',
    ])
  })

  test('an early answer during the commit of its question counts, and no question is opened', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.approve('Now?', { key: 'now', params: { n: 1 }, editable: ['n'] }),
    )
    const { engine, client, meddling } = await start([asking])
    const opens = (unit: Unit): boolean => unit.effects.some((effect) => effect.do === 'open-ask')
    const refused = beforeUnit(meddling, opens, () =>
      client.inbox.answer({ run: 'a', key: 'now' }, { approved: true, params: { n: 2 } }, as),
    )
    const run = await engine.run(asking, undefined, { id: 'a' })
    expect(await run.result()).toMatchObject({ approved: true, params: { n: 2 }, by: 'user:ana' })
    expect(refused()).toBe(1)
    expect((await engine.inbox.list()).items).toEqual([])
    expect((await engine.inbox.list({ status: 'answered' })).items).toHaveLength(1)
  })

  test('an invalid early answer during the commit of its question is discarded, and the question is opened', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.select('Which?', ['a', 'b'], { key: 'which' }),
    )
    const { engine, client, meddling } = await start([asking])
    const opens = (unit: Unit): boolean => unit.effects.some((effect) => effect.do === 'open-ask')
    const refused = beforeUnit(meddling, opens, () =>
      client.inbox.answer({ run: 'a', key: 'which' }, { choice: 'c' }, as),
    )
    const run = await engine.run(asking, undefined, { id: 'a' })
    const ask = await engine.inbox.next({ run: 'a' })
    await engine.inbox.answer(ask.id, { choice: 'b' }, as)
    expect(await run.result()).toBe('b')
    expect(refused()).toBe(1)
  })

  test('an answer given before its question is asked still counts', async () => {
    const asking = procedure({ name: 'asking', signals: { go: z.void() } }, async (ctx) => {
      await ctx.sleep('50ms')
      return ctx.human.approve('Now?', { key: 'now' })
    })
    const { engine, client, meddling } = await start([asking])
    const opens = (unit: Unit): boolean => unit.effects.some((effect) => effect.do === 'open-ask')
    const refused = beforeUnit(meddling, opens, () => client.get(asking, 'a').signal('go'))
    const run = await engine.run(asking, undefined, { id: 'a' })
    await client.inbox.answer({ run: 'a', key: 'now' }, { approved: true }, as)
    expect(await run.result()).toMatchObject({ approved: true })
    expect(refused()).toBe(1)
  })

  test('a message to a run that is being parked resumes it immediately', async () => {
    const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    const { engine, client, meddling } = await start([waiting])
    const parks = ({ next }: Unit): boolean => next.do === 'park'
    beforeUnit(meddling, parks, () => client.get(waiting, 'a').signal('go'))
    blindPolls(meddling)
    const run = await engine.run(waiting, undefined, { id: 'a' })
    expect(await run.result()).toBe(true)
  })

  test('a message during the last commit of a run is listed as unread', async () => {
    const short = procedure({ name: 'short', signals: { go: z.void() } }, async (ctx) =>
      ctx.step('work', () => 1),
    )
    const { engine, client, meddling } = await start([short])
    const refused = beforeUnit(meddling, ends, () => client.get(short, 'a').signal('go'))
    const run = await engine.run(short, undefined, { id: 'a' })
    expect(await run.result()).toBe(1)
    expect(refused()).toBe(1)
    expect((await run.status()).leftOver.signals).toEqual(['go'])
  })

  test('a message during the last commit of a run with an open receive is listed as unread', async () => {
    const racing = procedure({ name: 'racing', signals: { go: z.void() } }, (ctx) =>
      Promise.race([ctx.receive('go'), ctx.sleep('20ms')]),
    )
    const { engine, client, meddling } = await start([racing])
    const refused = beforeUnit(meddling, ends, () => client.get(racing, 'a').signal('go'))
    const run = await engine.run(racing, undefined, { id: 'a' })
    await run.result()
    expect(refused()).toBe(1)
    expect((await run.status()).leftOver.signals).toEqual(['go'])
    expect((await engine.log('a')).execution_log.map(({ status }) => status)).toEqual(['done'])
  })

  test('an answer during the last commit of a run is recorded, and its ask is not withdrawn', async () => {
    const racing = procedure({ name: 'racing' }, async (ctx) => {
      void ctx.human.approve('Now?')
      await ctx.sleep('20ms')
      return 'done'
    })
    const { engine, client, meddling } = await start([racing])
    const refused = beforeUnit(meddling, ends, () =>
      client.inbox.answer('a/0', { approved: true, comment: 'just in time' }, as),
    )
    const run = await engine.run(racing, undefined, { id: 'a' })
    expect(await run.result()).toBe('done')
    expect(refused()).toBe(1)
    const [entry] = (await engine.log('a')).execution_log
    expect(entry).toMatchObject({ status: 'done', result: { approved: true, comment: 'just in time' } })
    expect((await engine.inbox.list({ status: 'answered' })).items).toHaveLength(1)
  })
})

test("a message sent and awaited beside the run's worker needs no read of the store", async () => {
  const waiting = procedure({ name: 'waiting', signals: { go: z.number() } }, async (ctx) => {
    const started = await ctx.receive('go')
    return started + (await ctx.step('work', () => finish.gone.then(() => 1)))
  })
  const finish = hold()
  const meddling = meddleWith(memory())
  const bare = await startBareEngine({
    ...{ store: meddling.store, procedures: [waiting], logger: quiet },
    keep: { runs: 100, bytes: 1e6 },
    clock: withoutPolls,
  })
  const run = await bare.client.run(waiting)
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
  const asked: string[] = []
  for (const method of ['mail.list', 'mail.counters', 'runs.find'] as const)
    meddling.always(method, (go) => {
      asked.push(method)
      return go()
    })
  await run.signal('go', 1)
  const result = run.result()
  await new Promise((resolve) => setTimeout(resolve, 50))
  finish.let()
  expect(await result).toBe(2)
  expect(asked).toEqual([])
  await bare.stop()
})

test('a signal is received once, however late its sender hears of it', async () => {
  const meddling = meddleWith(memory())
  const started = hold()
  const finish = hold()
  const order = procedure({ name: 'order', signals: { go: z.number() } }, async (ctx) => {
    await ctx.step('work', () => {
      started.let()
      return finish.gone
    })
    const first = await ctx.receive('go')
    await ctx.sleep('1200ms')
    return [first, await ctx.receive('go', { timeout: '300ms' })]
  })
  // Nothing is kept: the run that is claimed after its sleep reads its log.
  const keep = { runs: 0, bytes: 0 }
  const bare = await startBareEngine({ store: meddling.store, procedures: [order], keep, logger: quiet })
  const run = await bare.client.run(order, undefined, { id: 'a' })
  await started.gone
  const tell = hold()
  const isLeft = hold()
  meddling.next('mail.send', async (go) => {
    const sent = await go()
    isLeft.let()
    await tell.gone
    return sent
  })
  const signalled = run.signal('go', 1)
  await isLeft.gone
  meddling.next(
    'log.load',
    async (go) => {
      tell.let()
      await signalled
      return go()
    },
    ([, seq]) => seq === 0,
  )
  finish.let()
  expect(await run.result()).toEqual([1, null])
  await bare.stop()
})

/** Something to wait for, until it is let go. */
function hold(): { readonly gone: Promise<void>; readonly let: () => void } {
  let letGo = (): void => {}
  const gone = new Promise<void>((resolve) => {
    letGo = resolve
  })
  return { gone, let: () => letGo() }
}

test('a message is found by polling when every hint is lost', async () => {
  const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    return 'went'
  })
  const { engine, client } = await start([waiting], { hearing: 'deaf' })
  const parked = await engine.run(waiting)
  while ((await parked.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
  await client.get(waiting, parked.id).signal('go')
  expect(await parked.result()).toBe('went')
})

test('a message to a run that sleeps for less than a second in its worker is noticed at once', async () => {
  const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, (ctx) =>
    ctx.receive('go', { timeout: '900ms' }),
  )
  const store = memory()
  const keep = { runs: 100, bytes: 1e6 }
  const bare = await startBareEngine({
    ...{ store, procedures: [waiting], keep, logger: quiet },
    clock: withoutTimers,
  })
  const run = await bare.client.run(waiting)
  await expect.poll(() => bare.worker.isAtRest).toBe(true)
  expect(bare.worker.local.holds(run.id)).toBe(true)
  const client = createClient({ store })
  await client.get(waiting, run.id).signal('go')
  expect(await run.result()).toBe(true)
  await client.stop()
  bare.worker.kill()
  await bare.stop()
})

test('a store that has lost acknowledged messages stops the run, and is not asked again', async () => {
  const waiting = procedure({ name: 'waiting', signals: { x: z.void(), y: z.void() } }, async (ctx) => {
    await ctx.step('work', () => isSent)
    await ctx.receive('y')
  })
  let send = (): void => {}
  const isSent = new Promise<void>((resolve) => {
    send = resolve
  })
  const { engine, meddling } = await start([waiting])
  const run = await engine.run(waiting)
  await run.signal('x')
  // As one that was restored from an older copy would answer.
  meddling.always('log.commit', async (go) =>
    ((await go()) as readonly object[]).map((outcome) => ({ ...outcome, mail: 0 })),
  )
  send()
  await expect(run.result()).rejects.toMatchObject({
    code: 'run-quarantined',
    details: { reason: 'the store has lost messages that it acknowledged' },
  })
})

test('a repeated signal to a due run claims it for the sender', async () => {
  const order = procedure({ name: 'order', signals: { paid: z.number() } }, (ctx) => ctx.receive('paid'))
  const inner = memory()
  const meddling = meddleWith(inner)
  // Nobody else takes it: this worker finds nothing that is due.
  meddling.always('claims.claim', async (_, __, store) => ({
    runs: [],
    at: await store.now(),
    nextDueAt: null,
  }))
  engine = await createEngine({ store: meddling.store, procedures: [order], logger: quiet })
  const client = createClient({ store: inner })
  const run = await client.run(order, undefined, { id: 'a' })
  await run.signal('paid', 5, { id: 'event 1' })
  await engine.get(order, 'a').signal('paid', 5, { id: 'event 1' })
  expect(await run.result()).toBe(5)
  await client.stop()
})
