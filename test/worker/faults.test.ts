import { createClient, createEngine, type Engine, FinalError, procedure } from '@pawl/core'
import { PawlError, type Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines } from '../semantics/support.ts'
import { meddleWith, type Step } from '../support/meddling-store.ts'

// A store that does not answer, answers late, or cannot tell what became of a write.

let engine: Engine | undefined
afterEach(() => engine?.stop())

const calls: string[] = []
const two = procedure({ name: 'two', signals: { go: z.void() } }, async (ctx) => {
  const first = await ctx.step('first', () => calls.push('first'))
  const second = await ctx.step('second', () => calls.push('second'))
  return [first, second]
})
const fail: Step = async () => {
  throw new Error('the disk is full')
}

function start(
  meddling = meddleWith(memory()),
  procedures: Parameters<typeof createEngine>[0]['procedures'] = [two],
) {
  calls.length = 0
  const { logger, lines } = keepLines()
  return createEngine({ store: meddling.store, procedures, lease: '1s', logger }).then((made) => {
    engine = made
    return { engine: made, lines, meddling }
  })
}

describe('a write that fails', () => {
  test('a failed write is repeated, and no effect is repeated', async () => {
    const meddling = meddleWith(memory())
    for (let times = 0; times < 3; times++) meddling.next('log.commit', fail)
    const { engine, lines } = await start(meddling)
    expect(await (await engine.run(two)).result()).toEqual([1, 2])
    expect(calls).toEqual(['first', 'second'])
    expect(lines.map(({ message }) => message)).toEqual([
      'Store could not write; retrying in 50 ms',
      'Store accepts writes again, after 1 s',
    ])
  })

  test('a failed write of a question is prepared again, and its timeout does not count the delay', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.approve('Delete?', { timeout: '60ms', risk: 'low', onTimeout: 'approve' }),
    )
    const meddling = meddleWith(memory())
    for (let times = 0; times < 2; times++) meddling.next('log.commit', fail)
    const { engine } = await start(meddling, [asking])
    await (await engine.run(asking)).result()
    const [ask] = (await engine.inbox.list({ status: 'timed-out' })).items
    expect((ask?.dueAt?.getTime() ?? 0) - (ask?.askedAt.getTime() ?? 0)).toBeGreaterThan(0)
  })

  test('a failed write of a cancel still precedes an answer that was given later', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => (await ctx.human.approve('Delete?')).approved)
    const inner = memory()
    const client = createClient({ store: inner })
    const meddling = meddleWith(inner)
    const { engine } = await start(meddling, [asking])
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    const writesCancel = ([, units]: readonly unknown[]) =>
      (units as readonly Unit[]).some(({ events }) => events.some(({ type }) => type === 'cancelled'))
    const failAfterAnswer: Step = async () => {
      // In this process, so that the worker has the answer before it writes the cancel again.
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
      throw new Error('the disk is full')
    }
    meddling.next('log.commit', failAfterAnswer, writesCancel)
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect(await client.inbox.get(ask.id)).toMatchObject({ status: 'answered' })
    await client.stop()
  })

  test('a failed write of a stuck mark overlooks no cancel that came meanwhile', async () => {
    const broken = procedure({ name: 'broken' }, async () => {
      throw new TypeError('x is not a function')
    })
    const inner = memory()
    const client = createClient({ store: inner })
    const meddling = meddleWith(inner)
    const { engine } = await start(meddling, [broken])
    // Later retries of stuck runs would see the cancel as well: it must be due at once.
    let wakeAt: number | null | undefined
    const cancelFirst: Step = async (go, _args, connection) => {
      await client.cancel('a')
      const isMarked = await go()
      wakeAt = (await connection.runs.find('a'))?.wakeAt
      return isMarked
    }
    meddling.next('runs.mark', cancelFirst)
    await engine.run(broken, undefined, { id: 'a' })
    await expect.poll(async () => (await client.get('a').status()).status).toBe('cancelled')
    expect(wakeAt).toEqual(expect.any(Number))
    await client.stop()
  })

  test('a failed write is repeated unchanged, so that another worker finds the whole log', async () => {
    const waiting = procedure({ name: 'two', signals: { go: z.void() } }, async (ctx) => {
      for (let index = 0; index < 70; index++) await ctx.step(`step ${index}`, () => index)
      await ctx.receive('go')
      return 'went'
    })
    const inner = memory()
    const meddling = meddleWith(inner)
    for (let times = 0; times < 2; times++)
      meddling.next('log.commit', fail, ([, units]) =>
        (units as readonly Unit[]).some(({ head }) => head === 60),
      )
    const before = await start(meddling, [waiting])
    const run = await before.engine.run(waiting)
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
    await before.engine.stop()
    const after = await start(meddleWith(inner), [waiting])
    await after.engine.get(waiting, run.id).signal('go')
    expect(await after.engine.get(run.id).result()).toBe('went')
  })

  test('a failed write of a new run is reported to its caller', async () => {
    const { engine, meddling } = await start()
    meddling.next('runs.create', fail)
    await expect(engine.run(two)).rejects.toThrow('the disk is full')
    expect(await (await engine.run(two)).result()).toEqual([1, 2])
  })

  test('a write that did not land is repeated once', async () => {
    const { engine, meddling } = await start()
    const lost: Step = async (go, [worker, units], connection) => {
      // As a store does that has lost the answer: it takes the run anew, and sees that nothing was written.
      void go
      const [{ run, epoch }] = units as readonly [Unit]
      await connection.runs.mark(worker as number, run, epoch, 'stuck', new Uint8Array(0))
      const procedures = [{ name: 'two', versions: [1] }]
      await connection.claims.retryStuck({ worker: worker as number, procedures })
      const claims = await connection.claims.claim({ worker: worker as number, procedures }, 1)
      return [{ outcome: 'lost', epoch: claims.runs[0]?.epoch }]
    }
    meddling.next('log.commit', lost)
    const run = await engine.run(two)
    expect(await run.result()).toEqual([1, 2])
    expect(calls).toEqual(['first', 'second'])
    expect((await engine.log(run.id)).execution_log).toHaveLength(2)
  })

  test('a run whose log contradicts its worker is quarantined, and no other run is', async () => {
    const { engine, meddling, lines } = await start()
    const conflict: Step = async () => [{ outcome: 'conflict' }]
    meddling.next('log.commit', conflict)
    const run = await engine.run(two, undefined, { id: 'a' })
    await expect(run.result()).rejects.toMatchObject({
      code: 'run-quarantined',
      message: expect.stringContaining('lost acknowledged events'),
    })
    expect(await run.status()).toMatchObject({ status: 'quarantined' })
    expect(calls).toEqual(['first'])
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('Run "a" is quarantined') }),
    )
    expect(await (await engine.run(two)).result()).toEqual([2, 3])
  })

  test('a failed write of a mark is repeated', async () => {
    const inner = memory()
    const client = createClient({ store: inner })
    const changed = procedure({ name: 'two' }, async (ctx) => {
      await ctx.step('premier', () => 1)
      await ctx.receive('go' as never)
    })
    const waiting = procedure({ name: 'two', signals: { go: z.void() } }, async (ctx) => {
      await ctx.step('first', () => 1)
      await ctx.receive('go')
    })
    const before = await start(meddleWith(inner), [waiting])
    const run = await before.engine.run(waiting)
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
    await before.engine.stop()
    const meddling = meddleWith(inner)
    meddling.next('runs.mark', fail)
    const { lines } = await start(meddling, [changed])
    await client.get(waiting, run.id).signal('go')
    while ((await client.get(run.id).status()).status !== 'stuck')
      await new Promise((resolve) => setTimeout(resolve, 20))
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('could not be marked') }),
    )
    await client.stop()
  })
})

describe('a read that fails', () => {
  test('a failed read of a run is reported to callers that wait for its result, once the lease is uncertain', async () => {
    const working = procedure({ name: 'working' }, (ctx) =>
      ctx.step('work', () => new Promise<void>(() => {})),
    )
    const { engine, meddling } = await start(undefined, [working])
    const run = await engine.run(working)
    for (const call of [
      'runs.find',
      'workers.beat',
      'claims.claim',
      'mail.counters',
      'workers.sweep',
    ] as const)
      meddling.always(call, fail)
    await expect(run.result()).rejects.toThrow('the disk is full')
    await engine.stop({ within: '1ms' })
  })

  test('a read that never returns delays no caller beyond its own timeout', async () => {
    const { engine, meddling } = await start()
    const client = createClient({ store: meddling.store })
    meddling.always('runs.find', () => new Promise(() => {}))
    meddling.always('asks.list', () => new Promise(() => {}))
    const waits = [
      client.get(two, 'a').result({ timeout: '50ms' }),
      client.inbox.next({ timeout: '50ms' }),
      engine.inbox.next({ timeout: '50ms' }),
    ]
    for (const wait of waits)
      await expect(wait).rejects.toMatchObject({
        code: 'wait-timed-out',
        message: expect.stringContaining('the store does not answer'),
      })
    await client.stop()
  })

  test('a failed read of messages is repeated', async () => {
    const waiting = procedure({ name: 'two', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    const inner = memory()
    const { engine, meddling, lines } = await start(meddleWith(inner), [waiting])
    const run = await engine.run(waiting)
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
    meddling.next('mail.list', fail)
    // Of another process: what is sent here need not be read.
    const client = createClient({ store: inner })
    await client.get(waiting, run.id).signal('go')
    expect(await run.result()).toBe(true)
    await client.stop()
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('could not read its messages') }),
    )
  })

  test('a failed read of messages is not logged once the run is no longer owned', async () => {
    const waiting = procedure({ name: 'two', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    const inner = memory()
    const { engine, meddling, lines } = await start(meddleWith(inner), [waiting])
    const run = await engine.run(waiting)
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
    let failLate: () => void = () => {}
    const isAsked = new Promise<void>((resolve) => {
      meddling.next('mail.list', () => {
        resolve()
        return new Promise((_, reject) => {
          failLate = () => reject(new Error('the store is closed'))
        })
      })
    })
    const client = createClient({ store: inner })
    await client.get(waiting, run.id).signal('go')
    await isAsked
    await engine.stop({ within: '10ms' })
    failLate()
    await new Promise((resolve) => setImmediate(resolve))
    expect(lines).toEqual([])
    await client.stop()
  })

  test('a failed read of a log is repeated', async () => {
    const inner = memory()
    const client = createClient({ store: inner })
    const run = await client.run(two)
    const meddling = meddleWith(inner)
    meddling.next('log.load', fail)
    const { lines } = await start(meddling)
    expect(await run.result()).toEqual([1, 2])
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('could not be read; retrying') }),
    )
    await client.stop()
  })

  test('a failed read of the material of a question delays the question', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      for (let index = 0; index < 7; index++) await ctx.step(`step ${index}`, () => index)
      await ctx.human.approve('Good?', { history: { last: 7 } })
    })
    const { engine, meddling, lines } = await start(undefined, [asking])
    meddling.next('log.load', fail)
    await engine.run(asking)
    expect((await engine.inbox.next()).history).toHaveLength(7)
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('could not read its step results') }),
    )
  })

  test('damage found in the material of a question quarantines the run', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      for (let index = 0; index < 7; index++) await ctx.step(`step ${index}`, () => index)
      await ctx.human.approve('Good?', { history: { last: 7 } })
    })
    const { engine, meddling } = await start(undefined, [asking])
    meddling.next('log.load', async (go) => ((await go()) as readonly object[]).slice(1))
    await expect((await engine.run(asking)).result()).rejects.toMatchObject({
      code: 'run-quarantined',
      details: { reason: expect.stringContaining('missing from its log') },
    })
  })

  test('a failed read of due runs, or a failed heartbeat, is repeated with the next poll', async () => {
    const inner = memory()
    const client = createClient({ store: inner })
    const { meddling, lines } = await start(meddleWith(inner))
    for (let times = 0; times < 2; times++) meddling.next('claims.claim', fail)
    meddling.next('workers.beat', fail)
    const run = await client.run(two)
    expect(await run.result()).toEqual([1, 2])
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('Store did not answer') }),
    )
    await client.stop()
  })
})

test('stuck runs are retried one at a time, however many hints arrive', async () => {
  const inner = memory()
  const meddling = meddleWith(inner)
  let [atOnce, max, calls] = [0, 0, 0]
  meddling.always('claims.retryStuck', async (go) => {
    calls++
    max = Math.max(max, ++atOnce)
    // The first, at the start, fails: the polls make up for it.
    await new Promise((resolve) => setTimeout(resolve, 50))
    atOnce--
    if (calls === 1) throw new Error('no luck')
    return go()
  })
  await start(meddling)
  const client = createClient({ store: inner })
  const other = procedure({ name: 'other' }, async () => {})
  for (let i = 0; i < 20; i++) {
    await client.run(other)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
  expect([max, calls]).toEqual([1, 2])
  await client.stop()
})

describe('a store that fails while an engine starts', () => {
  const first = ['now', 'workers.register', 'workers.sweep', 'claims.retryStuck', 'claims.claim'] as const

  test.for(first)('a starting engine retries a store that %s, and works', async (method) => {
    const inner = memory()
    const client = createClient({ store: inner })
    const changed = procedure({ name: 'two' }, async (ctx) => {
      await ctx.step('changed', () => 1)
    })
    const go = { name: 'two', signals: { go: z.void() } }
    const asIs = procedure(go, async (ctx) => {
      await ctx.step('first', () => 1)
      await ctx.receive('go')
    })
    const waitFor = async (id: string, status: string): Promise<void> => {
      while ((await client.get(id).status()).status !== status)
        await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const before = await start(meddleWith(inner), [asIs])
    await before.engine.run(asIs, undefined, { id: 'stuck' })
    await waitFor('stuck', 'waiting')
    await before.engine.stop()
    const wrong = await start(meddleWith(inner), [changed])
    await client.get(asIs, 'stuck').signal('go')
    await waitFor('stuck', 'stuck')
    await wrong.engine.stop()
    await client.run(asIs, undefined, { id: 'due' })

    const meddling = meddleWith(inner)
    meddling.next(method, fail)
    const { lines } = await start(meddling, [asIs])
    await client.get(asIs, 'due').signal('go')
    await Promise.all(['due', 'stuck'].map((id) => client.get(id).result()))
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('Store did not answer') }),
    )
    await client.stop()
  })

  test.for(first)(
    'a starting engine fails at once if a store %s and reports that it is unusable',
    async (method) => {
      const meddling = meddleWith(memory())
      meddling.next(method, async () => {
        throw new PawlError('store-unusable', { remedy: 'Put another disk in.' })
      })
      await expect(start(meddling)).rejects.toMatchObject({
        code: 'store-unusable',
        message: expect.stringContaining('Put another disk in.'),
      })
    },
  )

  test('a starting engine fails after a while if the store keeps failing', async () => {
    const meddling = meddleWith(memory())
    meddling.always('workers.register', fail)
    await expect(start(meddling)).rejects.toThrow('the disk is full')
  })
})

describe('a worker that was taken for dead', () => {
  test('a worker that was declared dead drops its runs and registers under another name', async () => {
    const inner = memory()
    const meddling = meddleWith(inner)
    const ends: ((value: string) => void)[] = []
    const slow = procedure({ name: 'two' }, (ctx) =>
      ctx.step('slow', () => new Promise<string>((resolve) => ends.push(resolve))),
    )
    const { engine, lines } = await start(meddling, [slow])
    const run = await engine.run(slow)
    while (ends.length < 1) await new Promise((resolve) => setImmediate(resolve))
    // What a partition looks like: the lease has run out, and the store says so at the next beat.
    meddling.next('workers.beat', async (_, [worker], connection) => {
      await connection.workers.release(worker as number)
      return false
    })
    while (ends.length < 2) await new Promise((resolve) => setTimeout(resolve, 20))
    for (const [attempt, end] of ends.entries()) end(`attempt ${attempt}`)
    expect(await run.result()).toBe('attempt 1')
    expect((await engine.log(run.id)).execution_log).toHaveLength(1)
    expect(lines).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('Lease expired') }),
    )
    const next = await engine.run(slow)
    while (ends.length < 3) await new Promise((resolve) => setImmediate(resolve))
    ends[2]?.('the next run')
    expect(await next.result()).toBe('the next run')
  })

  test('a worker that was declared dead ignores what it claimed before', async () => {
    const inner = memory()
    const meddling = meddleWith(inner)
    meddling.next('workers.beat', async (_, [worker], connection) => {
      while ((await connection.runs.find('a')) === null) await new Promise((resolve) => setImmediate(resolve))
      await connection.workers.release(worker as number)
      return false
    })
    // The reply comes once the worker has another name, under which it has claimed the run and recorded its first step.
    meddling.next('runs.create', async (go, _, connection) => {
      const created = await go()
      while (((await connection.runs.find('a'))?.head ?? 0) < 2)
        await new Promise((resolve) => setImmediate(resolve))
      return created
    })
    const { engine, lines } = await start(meddling)
    const run = await engine.run(two, undefined, { id: 'a' })
    expect(await run.result()).toEqual([1, 2])
    await engine.stop()
    expect(calls).toEqual(['first', 'second'])
    expect(lines.map(({ message }) => message)).toEqual([expect.stringContaining('Lease expired')])
  })
})

describe('a run that is claimed again before its worker hears that it was let go', () => {
  test('a run that is claimed again before its worker hears of its release continues from its log, and is released normally', async () => {
    let signal: AbortSignal | undefined
    const waiting = procedure({ name: 'waiting', signals: { go: z.string() } }, async (ctx) => [
      await ctx.receive('go'),
      await ctx.step('work', (call) => {
        signal = call.signal
        return new Promise((resolve) => setTimeout(() => resolve(calls.push('work')), 100))
      }),
      await ctx.receive('go'),
      await ctx.step('hang', (call) => {
        signal = call.signal
        return new Promise<string>(() => calls.push('hang'))
      }),
    ])
    const { engine, meddling } = await start(undefined, [waiting])
    const parked: Step = async (go) => {
      const outcomes = await go()
      // The run lies in the store, let go; a signal claims it for this very worker, which is told of that first.
      await engine.get(waiting, 'a').signal('go', 'first')
      await new Promise((resolve) => setTimeout(resolve, 20))
      return outcomes
    }
    meddling.next('log.commit', parked, ([, units]) =>
      (units as readonly Unit[]).some(({ next }) => next.do === 'park'),
    )
    const run = await engine.run(waiting, undefined, { id: 'a' })
    while (signal === undefined) await new Promise((resolve) => setImmediate(resolve))
    await run.signal('go', 'second')
    while (!calls.includes('hang')) await new Promise((resolve) => setImmediate(resolve))
    expect(calls).toEqual(['work', 'hang'])
    await engine.stop({ within: '0s' })
    expect(signal?.aborted).toBe(true)
  })
})

describe('stopping', () => {
  test('stopping waits for running steps and records their results', async () => {
    const inner = memory()
    const client = createClient({ store: inner })
    const slow = procedure({ name: 'two' }, async (ctx) => {
      await ctx.step('slow', async () => {
        calls.push('slow')
        await new Promise((resolve) => setTimeout(resolve, 60))
      })
      await ctx.step('next', () => calls.push('next'))
    })
    const one = await start(meddleWith(inner), [slow])
    const run = await one.engine.run(slow)
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await one.engine.stop()
    expect(await client.log(run.id)).toMatchObject({ replay_index: 1 })
    expect(calls).toEqual(['slow'])
    await start(meddleWith(inner), [slow])
    await run.result().catch(() => {})
    await client.get(run.id).result()
    expect(calls).toEqual(['next'])
    await client.stop()
  })

  test('stopping waits no longer than its timeout for steps that do not end or a store that does not respond', async () => {
    const hung = procedure({ name: 'two' }, (ctx) =>
      ctx.step('hung', () => new Promise(() => calls.push('hung'))),
    )
    for (const obstacle of ['step', 'store'] as const) {
      const { engine, meddling } = await start(undefined, [hung])
      if (obstacle === 'store') meddling.next('workers.release', () => new Promise(() => {}))
      await engine.run(hung)
      while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
      const began = performance.now()
      await engine.stop({ within: '100ms' })
      // Otherwise it would wait for 30 s.
      expect(performance.now() - began).toBeLessThan(15_000)
    }
  })

  test('stopping without a response of the store succeeds with a log line', async () => {
    const { engine, meddling, lines } = await start()
    meddling.next('workers.release', fail)
    await engine.stop()
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('hand back') }),
    )
    await expect(engine.list()).rejects.toMatchObject({ code: 'engine-stopped' })
  })

  test('stopping renews the lease while it waits', async () => {
    const inner = memory()
    let end = (): void => {}
    const slow = procedure({ name: 'two' }, (ctx) =>
      ctx.step(
        'slow',
        () =>
          new Promise<void>((resolve) => {
            calls.push('slow')
            end = resolve
          }),
      ),
    )
    const meddling = meddleWith(inner)
    let beats = 0
    meddling.always('workers.beat', (go) => {
      beats++
      return go()
    })
    const { logger } = keepLines()
    calls.length = 0
    engine = await createEngine({ store: meddling.store, procedures: [slow], lease: '1s', logger })
    const other = await createEngine({ store: inner, procedures: [slow], lease: '1s', logger })
    await engine.run(slow)
    while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const before = beats
    const stopped = engine.stop({ within: '10m' })
    // More than the lease lasts.
    await expect.poll(() => beats - before).toBeGreaterThan(6)
    end()
    await stopped
    expect(calls).toEqual(['slow'])
    await other.stop()
  })
})

describe('steps that wait for a slot', () => {
  /** A run of many steps, two at a time, and how many were at work at once. */
  function fanOut(first: () => unknown) {
    const seen = { begun: 0, atWork: 0, max: 0 }
    const body = async () => {
      seen.begun++
      seen.max = Math.max(seen.max, ++seen.atWork)
      await new Promise((resolve) => setTimeout(resolve, 20))
      seen.atWork--
    }
    const fan = procedure({ name: 'fan' }, async (ctx) => {
      const others = Array.from({ length: 100 }, (_, index) => `step ${index}`)
      await Promise.all([ctx.step('first', first), ...others.map((name) => ctx.step(name, body))])
    })
    return { fan, seen }
  }
  const concurrency = 2

  test('steps that wait for a slot do not begin when their run is claimed by another worker', async () => {
    const { fan, seen } = fanOut(() => {})
    const { logger, lines } = keepLines()
    const meddling = meddleWith(memory())
    const engine = await createEngine({
      ...{ store: meddling.store, procedures: [fan], lease: '1s', concurrency, logger },
    })
    meddling.next('workers.beat', async (_, [worker], connection) => {
      await connection.workers.release(worker as number)
      return false
    })
    // The next one finds no life in this process: nothing is claimed again.
    meddling.always('claims.claim', async () => ({ runs: [], at: Date.now(), nextDueAt: null }))
    await engine.run(fan)
    while (!lines.some(({ message }) => message.includes('Lease expired')))
      await new Promise((resolve) => setTimeout(resolve, 1))
    const { begun } = seen
    while (seen.atWork > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await engine.stop()
    expect(begun).toBeLessThan(100)
    expect(seen).toMatchObject({ begun, max: concurrency })
  })

  test('steps that wait for a slot do not begin when their run has ended', async () => {
    const { fan, seen } = fanOut(() => {
      throw new FinalError('no')
    })
    const { logger } = keepLines()
    const engine = await createEngine({ store: memory(), procedures: [fan], concurrency, logger })
    await expect((await engine.run(fan)).result()).rejects.toThrow('no')
    while (seen.atWork > 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await engine.stop()
    expect(seen.max).toBeLessThanOrEqual(concurrency)
    expect(seen.begun).toBeLessThan(10)
  })

  test('steps that wait for a slot do not begin while the lease may have expired, and begin when it is renewed', async () => {
    const { fan, seen } = fanOut(() => {})
    const { logger } = keepLines()
    const meddling = meddleWith(memory())
    let isSilent = false
    let provenAt = 0
    meddling.always('workers.beat', async (go) => {
      const askedAt = performance.now()
      // As long as a store would wait for a connection that is gone.
      if (isSilent) await new Promise((resolve) => setTimeout(resolve, 330))
      if (isSilent) throw new Error('silence')
      const isAlive = await go()
      provenAt = askedAt
      return isAlive
    })
    const begunAt: number[] = []
    const slow = procedure({ name: 'slow' }, async (ctx) => {
      const body = async () => {
        begunAt.push(performance.now())
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
      await Promise.all(Array.from({ length: 500 }, (_, index) => ctx.step(`step ${index}`, body)))
    })
    const engine = await createEngine({
      ...{ store: meddling.store, procedures: [slow, fan], lease: '1s', concurrency, logger },
    })
    const run = await engine.run(slow)
    while (provenAt === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    isSilent = true
    while (performance.now() < provenAt + 1_600) await new Promise((resolve) => setTimeout(resolve, 10))
    const before = begunAt.filter((at) => at >= provenAt)
    expect(before.length).toBeGreaterThan(0)
    expect(Math.max(...before)).toBeLessThan(provenAt + 1_000)
    isSilent = false
    await run.result()
    // Those under way when the lease ran out may have been done again, by whoever had the run then.
    expect(begunAt.length).toBeGreaterThanOrEqual(500)
    expect(begunAt.length).toBeLessThanOrEqual(500 + concurrency)
    expect(seen.begun).toBe(0)
    await engine.stop()
  })
})
