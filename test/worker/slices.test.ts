import { createClient, createEngine, type Engine, procedure } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine } from '../support/bare-engine.ts'
import { meddleWith } from '../support/meddling-store.ts'
import { WorkPerRound } from '../support/work-per-round.ts'

// However much there is to do at once: what the engine does in one round of the event loop does not grow with it.

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const few = 500
const many = 2_000

const echo = procedure({ name: 'echo', input: z.number() }, (ctx, i) => ctx.step('echo', () => i))
const waits = procedure({ name: 'waits', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))

let engine: Engine
let work: WorkPerRound
let store: ReturnType<typeof meddleWith>

beforeEach(async () => {
  store = meddleWith(memory())
  work = new WorkPerRound(store, [
    'runs.create',
    'log.commit',
    'mail.send',
    'asks.answer',
    'runs.find',
    'log.load',
    'asks.find',
  ])
  engine = await createEngine({ store: store.store, procedures: [echo, waits], logger: quiet })
})
afterEach(async () => {
  await engine.stop()
  work.stop()
})

const count = (length: number) => Array.from({ length }, (_, i) => i)

/** The most of each in one round, for few and for many. */
async function compare(
  methods: readonly Parameters<WorkPerRound['max']>[0][],
  task: (n: number) => Promise<void>,
): Promise<readonly [few: readonly number[], many: readonly number[]]> {
  const measure = async (n: number) => {
    work.reset()
    await task(n)
    return methods.map((method) => work.max(method))
  }
  return [await measure(few), await measure(many)]
}

describe('at once', () => {
  test('runs that are started at once are started and executed in slices', async () => {
    const [some, more] = await compare(['runs.create', 'log.commit'], async (n) => {
      const runs = await Promise.all(count(n).map((i) => engine.run(echo, i)))
      expect(await Promise.all(runs.map((run) => run.result()))).toEqual(count(n))
    })
    expect(some[0]).toBe(250)
    expect(more[0]).toBe(250)
    for (const rows of [some[1], more[1]]) expect(rows).toBeLessThanOrEqual(1_500)
  })

  test('signals that are sent at once are sent in slices, and their runs are loaded in slices', async () => {
    const [some, more] = await compare(['mail.send', 'log.load', 'log.commit'], async (n) => {
      const runs = await Promise.all(count(n).map(() => engine.run(waits)))
      await Promise.all(runs.map((run, i) => run.signal('go', i)))
      expect(await Promise.all(runs.map((run) => run.result()))).toEqual(count(n))
    })
    expect(some[0]).toBe(250)
    expect(more[0]).toBe(250)
    expect(more[1]).toBeLessThanOrEqual(350)
    expect(more[2]).toBeLessThanOrEqual(1_500)
  })

  test('results that are requested at once are read in slices, between other calls', async () => {
    const runs = await Promise.all(count(many).map((i) => engine.run(echo, i)))
    for (const run of runs) await run.result()
    const client = createClient({ store: store.store })
    const [some, more] = await compare(['runs.find', 'log.load'], async (n) => {
      const handles = runs.slice(0, n).map(({ id }) => client.get(echo, id))
      expect(await Promise.all(handles.map((run) => run.result()))).toEqual(count(n))
    })
    await client.stop()
    expect(some).toEqual([250, 250])
    expect(more).toEqual([250, 250])
  })
})

describe('of different kinds, at once', () => {
  test('calls, transactions and commits share the rounds of the event loop', async () => {
    const clients = Array.from({ length: 3 }, () => createClient({ store: store.store }))
    const ended = await Promise.all(count(few).map((i) => engine.run(echo, i)))
    await Promise.all(ended.map((run) => run.result()))
    const waiting = await Promise.all(count(few).map(() => engine.run(waits)))
    work.reset()
    await Promise.all([
      ...clients.flatMap((client) => ended.map(({ id }) => client.get(echo, id).result())),
      ...count(few).map(async (i) => (await engine.run(echo, i)).result()),
      ...waiting.map((run, i) => run.signal('go', i)),
    ])
    await Promise.all(waiting.map((run) => run.result()))
    for (const client of clients) await client.stop()
    // A round has room for 1,000 rows, or a few calls more that a task of an earlier round has led to.
    expect(work.maxOfAll).toBeLessThanOrEqual(1_500)
  })
})

describe('of one run, at once', () => {
  const as = { as: 'user:ana' } as const
  const asking = procedure({ name: 'asking', input: z.number() }, async (ctx, n) => {
    const options = { timeout: '1h', onTimeout: 'reject' } as const
    const answers = await Promise.all(count(n).map((i) => ctx.human.approve(`Pay ${i}?`, options)))
    return answers.filter(({ approved }) => approved).length
  })

  test('many questions of one run are asked and answered in slices', async () => {
    await restart([asking])
    const [some, more] = await compare(['log.commit', 'asks.answer', 'asks.find'], async (n) => {
      const run = await engine.run(asking, n, { id: `asking ${n}` })
      await untilWaiting(run)
      expect((await engine.log(run.id)).execution_log).toHaveLength(n)
      const ids = count(n).map((i) => `asking ${n}/${i}`)
      await Promise.all(ids.map((ask) => engine.inbox.answer(ask, { approved: true }, as)))
      expect(await run.result()).toBe(n)
    })
    expect(some.slice(1)).toEqual([250, 250])
    expect(more.slice(1)).toEqual([250, 250])
    for (const rows of [some[0], more[0]]) expect(rows).toBeLessThanOrEqual(1_500)
  })

  test('many questions with early answers are asked and settled in slices, each prepared about once', async () => {
    const keyed = procedure(
      { name: 'keyed', input: z.number(), signals: { go: z.void() } },
      async (ctx, n) => {
        await ctx.receive('go')
        const answers = await Promise.all(
          count(n).map((i) => ctx.human.approve(`Pay ${i}?`, { key: `k${i}` })),
        )
        return answers.filter(({ approved }) => approved).length
      },
    )
    await restart([keyed])
    const [some, more] = await compare(['log.commit'], async (n) => {
      const run = await engine.run(keyed, n, { id: `keyed ${n}` })
      const early = (i: number) => engine.inbox.answer({ run: run.id, key: `k${i}` }, { approved: true }, as)
      await Promise.all(count(n).map(early))
      await run.signal('go')
      expect(await run.result()).toBe(n)
    })
    for (const [rows] of [some, more]) expect(rows).toBeLessThanOrEqual(1_500)
  })

  test('many steps of one run begin in slices, and their results are written in slices', async () => {
    let begun = 0
    const steps = procedure({ name: 'steps', input: z.number() }, async (ctx, n) => {
      const body = async (): Promise<number> => ++begun
      return (await Promise.all(count(n).map(() => ctx.step('step', body)))).length
    })
    await restart([steps], 1_000_000)
    const bodies: number[] = []
    const [some, more] = await compare(['log.commit'], async (n) => {
      let max = 0
      let before = begun
      let isOver = false
      const look = (): void => {
        max = Math.max(max, begun - before)
        before = begun
        if (!isOver) setImmediate(look)
      }
      look()
      expect(await (await engine.run(steps, n)).result()).toBe(n)
      isOver = true
      bodies.push(max)
    })
    expect(bodies).toEqual([250, 250])
    for (const [rows] of [some, more]) expect(rows).toBeLessThanOrEqual(501)
  })

  test('many timers of one run fire in slices, the longest due first', async () => {
    const fired: number[] = []
    const sleeping = procedure({ name: 'sleeping', input: z.number() }, async (ctx, n) => {
      await Promise.all(
        count(n).map(async (i) => {
          await ctx.sleep(`${20 - (i % 20)}ms`)
          fired.push(20 - (i % 20))
        }),
      )
      return n
    })
    await restart([sleeping])
    const [some, more] = await compare(['log.commit'], async (n) => {
      fired.length = 0
      // They come to be due together while nothing else can happen.
      const run = await engine.run(sleeping, n)
      holdFor(40)
      expect(await run.result()).toBe(n)
      expect(fired).toEqual(fired.toSorted((a, b) => a - b))
    })
    for (const [rows] of [some, more]) expect(rows).toBeLessThanOrEqual(501)
  })

  test('many signals to one run are received in slices, in the order they were sent', async () => {
    const listening = procedure(
      { name: 'listening', input: z.number(), signals: { say: z.number() } },
      async (ctx, n) => {
        const received: number[] = []
        const listen = async (): Promise<void> => void received.push(await ctx.receive('say'))
        await Promise.all(count(n).map(listen))
        return received
      },
    )
    await restart([listening])
    const [some, more] = await compare(['log.commit', 'mail.send'], async (n) => {
      const run = await engine.run(listening, n)
      await Promise.all(count(n).map((i) => run.signal('say', i)))
      expect(await run.result()).toEqual(count(n))
    })
    expect([some[1], more[1]]).toEqual([250, 250])
    for (const [rows] of [some, more]) expect(rows).toBeLessThanOrEqual(1_500)
  })

  test('a result that arrives before all operations have begun is delivered when they have', async () => {
    const reported: string[] = []
    const telling = procedure({ name: 'telling', input: z.number() }, async (ctx, n) => {
      const first = ctx.step('first', () => 'first')
      for (const i of count(n)) void ctx.human.notify(`note ${i}`)
      return first
    })
    await restart([telling], 100, (message) => void reported.push(message))
    expect(await (await engine.run(telling, many)).result()).toBe('first')
    expect(reported).toEqual(count(many).map((i) => `note ${i}`))
  })

  test('a stopping engine does not begin the remaining operations, and another engine does', async () => {
    await restart([asking])
    const run = await engine.run(asking, many, { id: 'a' })
    await new Promise((resolve) => setImmediate(resolve))
    await engine.stop()
    await restart([asking])
    await untilWaiting(engine.get(asking, run.id))
    expect((await engine.log('a')).execution_log).toHaveLength(many)
    await Promise.all(
      count(many).map((i) => engine.inbox.answer(`a/${i}`, { approved: true }, { as: 'user:ana' })),
    )
    expect(await engine.get(asking, 'a').result()).toBe(many)
  })
})

describe('with one message in a slice', () => {
  const keep = { runs: 10, bytes: 1_000_000 }
  const slices = { begun: 1, drafts: 1 }

  test('stored messages precede the timeouts of the operations that receive them', async () => {
    const checked = z.number().refine(async () => true)
    const late = procedure({ name: 'late', signals: { say: checked } }, (ctx) =>
      Promise.all([ctx.receive('say', { timeout: '20ms' }), ctx.receive('say', { timeout: '20ms' })]),
    )
    const bare = await startBareEngine({ store: memory(), procedures: [late], keep, slices, logger: quiet })
    const run = await bare.client.run(late)
    // Both time out before anything else can happen, and both signals are there when that is seen.
    const sent = [run.signal('say', 1), run.signal('say', 2)]
    holdFor(60)
    await Promise.all(sent)
    expect(await run.result()).toEqual([1, 2])
    await bare.stop()
  })

  test('a run that a second worker ends starts its open asks although its unit is full', async () => {
    const napping = procedure({ name: 'napping' }, (ctx) => ctx.sleep('1h'))
    const ending = procedure({ name: 'ending', signals: { go: z.void() } }, async (ctx) => {
      void ctx.human.input('One?', z.string())
      void ctx.human.input('Two?', z.string())
      await ctx.race({ go: ctx.receive('go'), napped: ctx.call(napping) })
      return 'ended'
    })
    const meddled = meddleWith(memory())
    let isCut = true
    meddled.always('log.commit', (go, [, units]) => {
      const types = (units as readonly Unit[]).flatMap(({ events }) => events.map(({ type }) => type))
      if (isCut && types.some((type) => type === 'withdrawn' || type === 'ended'))
        return Promise.reject(new Error('cut'))
      return go()
    })
    const options = { store: meddled.store, procedures: [ending, napping], keep, slices, logger: quiet }
    const first = await startBareEngine(options)
    const run = await first.client.run(ending, undefined, { id: 'ending:1' })
    const entries = async () => (await first.client.log(run.id)).execution_log
    await expect.poll(async () => (await first.client.inbox.list()).items.length).toBe(2)
    await expect.poll(async () => (await entries()).some(({ type }) => type === 'child')).toBe(true)
    await run.signal('go')
    const isReceived = async () =>
      (await entries()).some(({ type, status }) => type === 'signal' && status === 'done')
    await expect.poll(isReceived).toBe(true)
    await first.stop()
    isCut = false
    const second = await startBareEngine(options)
    expect(await second.client.get(ending, run.id).result()).toBe('ended')
    await second.stop()
  })

  test('a run is not parked before all its messages are delivered', async () => {
    const picky = procedure({ name: 'picky', signals: { say: z.number() } }, (ctx) => ctx.receive('say'))
    const bare = await startBareEngine({ store: memory(), procedures: [picky], keep, slices, logger: quiet })
    const run = await bare.client.run(picky)
    const untyped = bare.client.get(run.id)
    await Promise.all(['not', 'numbers', 'at all', 7].map((payload) => untyped.signal('say', payload)))
    expect(await run.result()).toBe(7)
    await bare.stop()
  })
})

/** Another engine, on the same store. */
async function restart(
  procedures: readonly Parameters<typeof createEngine>[0]['procedures'][number][],
  concurrency = 100,
  info: (message: string) => void = () => {},
): Promise<void> {
  await engine.stop()
  engine = await createEngine({ store: store.store, procedures, concurrency, logger: { ...quiet, info } })
}

async function untilWaiting(run: { status(): Promise<{ readonly status: string }> }): Promise<void> {
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 5))
}

function holdFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
