import { setTimeout as wait } from 'node:timers/promises'
import {
  createClient,
  createEngine,
  type Engine,
  FinalError,
  type Logger,
  type Procedure,
  procedure,
  type Store,
} from '@pawl/core'
import { encodePayload, systemPorts } from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine } from '../support/bare-engine.ts'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** What the bodies of a test have seen. */
const seen: string[] = []
let working: () => void = () => {}

const stepping = procedure({ name: 'stepping' }, async (ctx) => {
  try {
    await ctx.step('work', ({ signal }) => {
      working()
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve(seen.push('aborted'))))
    })
  } finally {
    seen.push('finally')
    await ctx.shield((inner) => inner.step('clean up', () => seen.push('cleaned up')))
  }
})
const asking = procedure({ name: 'asking' }, async (ctx) => {
  try {
    await ctx.human.approve('Refund?', { to: 'group:finance' })
  } finally {
    seen.push('finally')
  }
  return 'answered'
})
const receiving = procedure({ name: 'receiving', signals: { go: z.number() } }, async (ctx) => {
  const got = await ctx.receive('go')
  seen.push(`got ${got}`)
  await ctx.sleep('1d')
})
const diverging = (name: string) =>
  procedure({ name: 'diverging' }, async (ctx) => {
    await ctx.step(name, () => 1)
    await Promise.all([ctx.human.approve('Refund?'), ctx.human.approve('Tell the customer?')])
  })
const quick = procedure({ name: 'quick' }, (ctx) => ctx.step('one', () => 1))
const stubborn = procedure({ name: 'stubborn', grace: '0ms' }, async (ctx) => {
  await ctx.shield((inner) => inner.sleep('1d')).catch(() => {})
})
const swallowing = procedure({ name: 'swallowing' }, async (ctx) => {
  await ctx.sleep('1d').catch(() => seen.push('swallowed'))
  return 'chose to finish'
})
const failing = procedure({ name: 'failing' }, async (ctx) => {
  await ctx.sleep('1d').catch(() => {
    throw new RangeError('another error')
  })
})
const tidying = procedure({ name: 'tidying', signals: { go: z.number() } }, async (ctx) => {
  try {
    await ctx.receive('go')
  } finally {
    seen.push('finally')
  }
})
const lingering = procedure({ name: 'lingering', grace: '0ms' }, async (ctx) => {
  ctx.shield((inner) => inner.sleep('1d')).catch(() => {})
  return 'returned'
})
const consenting = procedure({ name: 'consenting' }, async (ctx) => {
  await ctx.step('hold', () => seen.push('held'), { undo: () => seen.push('released') })
  try {
    const { params } = await ctx.human.approve('Refund {amount} EUR?', {
      params: { amount: 45 },
      onReject: 'cancel-run',
    })
    return params.amount
  } finally {
    seen.push('finally')
  }
})
let undoing: () => void = () => {}
const undoingTwice = (name: string) =>
  procedure({ name: 'undoing' }, async (ctx) => {
    ctx.onRollback('first', () => {
      undoing()
      return new Promise(() => {})
    })
    ctx.onRollback(name, () => {
      throw new FinalError('refused')
    })
    ctx.onRollback('third', () => {})
    await ctx.step('fail', () => {
      throw new FinalError('stop')
    })
  })
const withoutCode = expect.stringContaining('ended without its code')

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

describe('a cancel', () => {
  const makePlace = makePlaces()
  const rounds = Number(process.env['ROUNDS'] ?? 30)
  async function setUp(): Promise<{
    readonly store: Store
    readonly start: (...procedures: readonly AnyProcedure[]) => Promise<Engine>
  }> {
    seen.length = 0
    const place = await makePlace()
    const engines: Engine[] = []
    onTestFinished(async () => {
      for (const engine of engines) await engine.stop({ within: '0ms' })
      await place.remove()
    })
    return {
      store: place.store,
      async start(...procedures) {
        const engine = await createEngine({ store: place.store, procedures, logger: silent })
        engines.push(engine)
        return engine
      },
    }
  }
  const cancelled = (reason?: string) => ({ code: 'run-cancelled', details: { reason } })
  const typesOf = async (engine: Engine, id: string) =>
    (await engine.log(id)).execution_log.map(({ name, status }) => `${name} ${status}`)

  test('running: the step at work is aborted, `finally` and shields run, and the run is cancelled', async () => {
    const { start } = await setUp()
    const engine = await start(stepping)
    const isWorking = new Promise<void>((resolve) => {
      working = resolve
    })
    const run = await engine.run(stepping)
    await isWorking
    await run.cancel('customer called', { by: 'user:ana' })
    await expect(run.result()).rejects.toMatchObject(cancelled('customer called'))
    expect(seen).toEqual(['finally', 'aborted', 'cleaned up'])
    expect(await run.status()).toMatchObject({
      status: 'cancelled',
      cancelRequestedAt: expect.any(Date),
      cancelReason: 'customer called',
      failure: undefined,
      endedAt: expect.any(Date),
    })
  })

  test('waiting for people: the ask leaves the inbox, and an answer to it is refused', async () => {
    const { start } = await setUp()
    const engine = await start(asking)
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject(cancelled())
    expect(seen).toEqual(['finally'])
    expect((await engine.inbox.list({ run: run.id })).items).toEqual([])
    expect((await engine.inbox.get(ask.id))?.status).toBe('withdrawn')
    await expect(engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })).rejects.toMatchObject({
      code: 'ask-closed',
    })
    expect(await typesOf(engine, run.id)).toEqual(['approve withdrawn'])
  })

  test('parked, and cancelled by a client without the code: the run is due at once', async () => {
    const { store, start } = await setUp()
    const engine = await start(receiving)
    const run = await engine.run(receiving)
    await until(async () => (await run.status()).status === 'waiting')
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    await client.cancel(run.id, 'no longer needed')
    await expect(run.result()).rejects.toMatchObject(cancelled('no longer needed'))
  })

  test('owned elsewhere: the owner hears of it', async () => {
    const { start } = await setUp()
    const owner = await start(stepping)
    const other = await start(quick)
    const isWorking = new Promise<void>((resolve) => {
      working = resolve
    })
    const run = await owner.run(stepping)
    await isWorking
    await other.cancel(run.id, 'from elsewhere')
    await expect(other.get(run.id).result()).rejects.toMatchObject(cancelled('from elsewhere'))
    expect(seen).toEqual(['finally', 'aborted', 'cleaned up'])
  })

  test('stuck: it ends without its code, and its ask is withdrawn', async () => {
    const { start } = await setUp()
    const before = await start(diverging('one'))
    const run = await before.run(diverging('one'))
    const ask = await before.inbox.next({ run: run.id })
    await before.stop()
    const engine = await start(diverging('zwei'))
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await expect(engine.get(run.id).result()).rejects.toMatchObject({ code: 'nondeterminism' })
    expect((await engine.inbox.list({ run: run.id })).items).toHaveLength(1)
    await engine.cancel(run.id, 'wrong code')
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('wrong code'))
    expect(await engine.get(run.id).status()).toMatchObject({
      status: 'cancelled',
      cancelReason: 'wrong code',
      rollback: { reason: 'wrong code', undone: [], failed: [], skipped: withoutCode },
    })
    expect((await engine.inbox.list({ run: run.id })).items).toEqual([])
  })

  test('ended without its code: an answer that was accepted is in its log, whether it came before the cancel or after', async () => {
    const { store, start } = await setUp()
    const before = await start(diverging('one'))
    const run = await before.run(diverging('one'))
    await until(async () => (await before.inbox.list({ run: run.id })).items.length === 2)
    const [first, second] = (await before.inbox.list({ run: run.id })).items.map(({ id }) => id)
    await before.stop()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    await client.inbox.answer(first as string, { approved: true }, { as: 'user:ana' })
    await client.cancel(run.id, 'wrong code')
    await client.inbox.answer(second as string, { approved: false }, { as: 'user:bob' })
    const engine = await start(diverging('zwei'))
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('wrong code'))
    const asks = await Promise.all([first, second].map((id) => engine.inbox.get(id as string)))
    expect(asks.map((ask) => ask?.status)).toEqual(['answered', 'answered'])
    expect(await typesOf(engine, run.id)).toEqual(['one done', 'approve done', 'approve done'])
  })

  test('quarantined: refused', async () => {
    const { store, start } = await setUp()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const run = await client.run(quick, undefined, { id: 'a' })
    await quarantine(store)
    const engine = await start(quick)
    await expect(engine.cancel(run.id)).rejects.toMatchObject({ code: 'run-quarantined' })
    expect(await run.status()).toMatchObject({ status: 'quarantined', cancelRequestedAt: undefined })
  })

  test('no worker has its code: after a while any worker ends it', async () => {
    const { store, start } = await setUp()
    const before = await start(asking)
    const run = await before.run(asking)
    await before.inbox.next({ run: run.id })
    await before.stop()
    // The request is as old as it need be, and what a worker does each minute it does each second.
    const meddling = meddleWith(store)
    meddling.always('claims.cancelled', (_, [, limit], port) => port.claims.cancelled(0, limit as number))
    const { client, stop } = await startBareEngine({
      store: meddling.store,
      procedures: [quick],
      keep: { runs: 10, bytes: 1_000_000 },
      logger: silent,
      clock: {
        ...systemPorts.clock,
        after: (ms, callback, isBackground) =>
          systemPorts.clock.after(isBackground === true ? Math.ceil(ms / 60) : ms, callback, isBackground),
      },
    })
    onTestFinished(stop)
    await client.cancel(run.id, 'code is gone')
    await expect(client.get(run.id).result()).rejects.toMatchObject(cancelled('code is gone'))
    expect(seen).toEqual([])
    expect((await client.inbox.list()).items).toEqual([])
    const { execution_log } = await client.log(run.id)
    expect(execution_log).toMatchObject([{ name: 'approve', status: 'withdrawn' }])
    expect((await client.get(run.id).status()).rollback?.skipped).toEqual(withoutCode)
  })

  test('not begun: no code of it runs', async () => {
    const { store, start } = await setUp()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const run = await client.run(quick, undefined, { id: 'a' })
    await client.cancel('a', 'too late')
    const engine = await start(quick)
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('too late'))
    expect(await typesOf(engine, 'a')).toEqual([])
    expect((await run.status()).rollback).toBeUndefined()
  })

  test('requested while no worker is there: the run says by whom and why', async () => {
    const { store } = await setUp()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const run = await client.run(quick, undefined, { id: 'a' })
    await run.cancel('customer called', { by: 'user:ana' })
    const requested = {
      cancelRequestedAt: expect.any(Date),
      ...{ cancelReason: 'customer called', cancelledBy: 'user:ana' },
    }
    expect(await run.status()).toMatchObject(requested)
    expect((await client.list()).items).toMatchObject([requested])
  })

  test('ended: nothing changes', async () => {
    const { start } = await setUp()
    const engine = await start(quick)
    const run = await engine.run(quick)
    await run.result()
    await run.cancel('late')
    expect(await run.result()).toBe(1)
    expect(await run.status()).toMatchObject({ status: 'completed', cancelRequestedAt: undefined })
  })

  test('not there: run-not-found', async () => {
    const { start } = await setUp()
    const engine = await start(quick)
    await expect(engine.cancel('nowhere')).rejects.toMatchObject({ code: 'run-not-found' })
    await expect(engine.get('nowhere').cancel()).rejects.toMatchObject({ code: 'run-not-found' })
  })

  test('twice: the first reason stands', async () => {
    const { start } = await setUp()
    const engine = await start(receiving)
    const run = await engine.run(receiving)
    await Promise.all([run.cancel('first'), run.cancel('second')])
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    const { cancelReason } = await run.status()
    await run.cancel('third')
    expect(['first', 'second']).toContain(cancelReason)
    expect(await run.status()).toMatchObject({ cancelReason })
  })

  test('swallowed: the run chose to finish', async () => {
    const { start } = await setUp()
    const engine = await start(swallowing)
    const run = await engine.run(swallowing)
    await run.cancel()
    expect(await run.result()).toBe('chose to finish')
    expect(await run.status()).toMatchObject({ status: 'completed', cancelRequestedAt: expect.any(Date) })
  })

  test('another error while it is cancelled: the run has failed', async () => {
    const { start } = await setUp()
    const engine = await start(failing)
    const run = await engine.run(failing)
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  })

  test('a shield that outlasts the grace: the end is forced', async () => {
    const { start } = await setUp()
    const engine = await start(stubborn)
    const run = await engine.run(stubborn)
    await run.cancel('enough')
    await expect(run.result()).rejects.toMatchObject(cancelled('enough'))
    expect(await run.status()).toMatchObject({ cancelReason: 'enough', rollback: undefined })
  })

  test('stuck in the middle of a rollback: it ends without its code, and the view says what was undone', async () => {
    const { start } = await setUp()
    const working = new Promise<void>((resolve) => {
      undoing = resolve
    })
    const before = await start(undoingTwice('second'))
    const run = await before.run(undoingTwice('second'))
    await working
    await before.stop({ within: '0ms' })
    const engine = await start(undoingTwice('zwei'))
    await expect(engine.get(run.id).result()).rejects.toMatchObject({ code: 'nondeterminism' })
    await engine.cancel(run.id, 'give up')
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('give up'))
    expect((await engine.get(run.id).status()).rollback).toMatchObject({
      undone: ['third'],
      failed: [{ name: 'second', failure: { code: 'step-failed' } }],
      skipped: withoutCode,
    })
  })

  test('a return that an open shield delays: forced by the grace, and not shown as cancelled', async () => {
    const { start } = await setUp()
    const engine = await start(lingering)
    const run = await engine.run(lingering)
    expect(await run.result()).toBe('returned')
    expect(await run.status()).toMatchObject({ status: 'completed', cancelRequestedAt: undefined })
  })

  test('a no to an approval with onReject: cancel-run: the run is cancelled, and undone', async () => {
    const { start } = await setUp()
    const engine = await start(consenting)
    const run = await engine.run(consenting)
    const ask = await engine.inbox.next({ run: run.id })
    await engine.inbox.answer(ask.id, { approved: false, comment: 'too much' }, { as: 'user:ana' })
    const reason = '"Refund 45 EUR?" was rejected: too much'
    await expect(run.result()).rejects.toMatchObject(cancelled(reason))
    expect(seen).toEqual(['held', 'finally', 'released'])
    expect(await run.status()).toMatchObject({
      ...{ status: 'cancelled', cancelReason: reason, cancelRequestedAt: expect.any(Date) },
      rollback: { undone: ['hold'] },
    })
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'answered' })
    const { execution_log } = await engine.log(run.id)
    expect(execution_log).toMatchObject([{ name: 'hold' }, { name: 'approve' }, { type: 'undo' }])
  })

  test('a yes to an approval with onReject: cancel-run: the run continues', async () => {
    const { start } = await setUp()
    const engine = await start(consenting)
    const run = await engine.run(consenting)
    const ask = await engine.inbox.next({ run: run.id })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await run.result()).toBe(45)
    expect(seen).toEqual(['held', 'finally'])
  })

  test('waiting for a signal since its first turn, and its worker gone: `finally` runs', async () => {
    const { store, start } = await setUp()
    const before = await start(tidying)
    const run = await before.run(tidying)
    await until(async () => (await run.status()).status === 'waiting')
    await before.stop()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    await client.cancel(run.id)
    const engine = await start(tidying)
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled())
    expect(seen).toEqual(['finally'])
  })

  test('timed out while parked: the run cancels itself', async () => {
    const { start } = await setUp()
    const engine = await start(asking)
    const run = await engine.run(asking, undefined, { timeout: '1500ms' })
    const ask = await engine.inbox.next({ run: run.id })
    await expect(run.result()).rejects.toMatchObject(cancelled('timed out'))
    expect(seen).toEqual(['finally'])
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'withdrawn' })
    const { cancelReason, startedAt, cancelRequestedAt } = await run.status()
    expect(cancelReason).toBe('timed out')
    expect(Number(cancelRequestedAt) - Number(startedAt)).toBeGreaterThanOrEqual(1_500)
  })

  test('timed out while no engine runs: the next one cancels it', async () => {
    const { start } = await setUp()
    const before = await start(tidying)
    const run = await before.run(tidying, undefined, { timeout: '3s' })
    await until(async () => (await run.status()).status === 'waiting')
    const { startedAt } = await run.status()
    await before.stop()
    await wait(Number(startedAt) + 3_000 - Date.now())
    const engine = await start(tidying)
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('timed out'))
    expect(seen).toEqual(['finally'])
  })

  test('timed out before it has begun: no code of it runs', async () => {
    const { store, start } = await setUp()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const run = await client.run(tidying, undefined, { timeout: new Date(Date.now() - 1_000) })
    const engine = await start(tidying)
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('timed out'))
    expect(seen).toEqual([])
    expect(await run.status()).toMatchObject({ status: 'cancelled', cancelReason: 'timed out' })
  })

  test('stuck when its time is up: it ends without its code', async () => {
    const { start } = await setUp()
    const before = await start(diverging('one'))
    const run = await before.run(diverging('one'), undefined, { timeout: '2s' })
    const ask = await before.inbox.next({ run: run.id })
    await before.stop()
    const engine = await start(diverging('zwei'))
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await expect(engine.get(run.id).result()).rejects.toMatchObject(cancelled('timed out'))
    expect((await engine.get(run.id).status()).rollback?.skipped).toEqual(withoutCode)
  })

  test('a worker that dies after the request: the next one cancels', async () => {
    const { store, start } = await setUp()
    const one = await start(asking)
    const run = await one.run(asking)
    await one.inbox.next({ run: run.id })
    await one.stop()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    await client.cancel(run.id)
    expect(await client.get(run.id).status()).toMatchObject({
      status: 'running',
      cancelRequestedAt: expect.any(Date),
    })
    const two = await start(asking)
    await expect(two.get(run.id).result()).rejects.toMatchObject(cancelled())
    expect(seen).toEqual(['finally'])
  })

  test('in the same instant as an answer: the order of the messages decides', async () => {
    const { start } = await setUp()
    const engine = await start(asking)
    await interleave(rounds, async (round) => {
      const run = await engine.run(asking)
      const ask = await engine.inbox.next({ run: run.id })
      const answer = () =>
        engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' }).then(
          () => true,
          () => false,
        )
      const calls = round % 2 === 0 ? [answer(), run.cancel()] : [run.cancel(), answer()]
      const [isAnswered] = (await Promise.all(calls)).filter((one) => typeof one === 'boolean')
      const outcome = await run.result().then(
        () => 'completed',
        ({ code }: { readonly code: string }) => code,
      )
      expect(['completed', 'run-cancelled']).toContain(outcome)
      const { status } = (await engine.inbox.get(ask.id)) ?? {}
      expect(status).toBe(isAnswered ? 'answered' : 'withdrawn')
      if (!isAnswered) expect(outcome).toBe('run-cancelled')
      expect((await engine.inbox.list({ run: run.id })).items).toEqual([])
    })
  })

  test.each([
    { first: 'cancel', outcome: 'run-cancelled' },
    { first: 'answer', outcome: 'completed' },
  ])('the $first before the other, and no worker yet: $outcome', async ({ first, outcome }) => {
    const { store, start } = await setUp()
    const before = await start(asking)
    const run = await before.run(asking)
    const ask = await before.inbox.next({ run: run.id })
    await before.stop()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    if (first === 'cancel') await client.cancel(run.id)
    await client.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    if (first === 'answer') await client.cancel(run.id)
    const engine = await start(asking)
    const ended = await engine
      .get(run.id)
      .result()
      .then(
        () => 'completed',
        ({ code }: { readonly code: string }) => code,
      )
    expect(ended).toBe(outcome)
    expect((await engine.inbox.get(ask.id))?.status).toBe('answered')
  })

  test('in the same instant as the end: the run completes or is cancelled, and stays so', async () => {
    const { start } = await setUp()
    const engine = await start(quick)
    await interleave(rounds, async () => {
      const run = await engine.run(quick)
      await run.cancel()
      const outcome = await run.result().then(
        () => 'completed',
        () => 'cancelled',
      )
      expect(await run.status()).toMatchObject({ status: outcome })
      const { execution_log } = await engine.log(run.id)
      if (outcome === 'completed') expect(execution_log).toMatchObject([{ status: 'done' }])
    })
  })
})

async function interleave(count: number, body: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; round < count; round++) await body(round)
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await wait(5)
}

/** Marks the one run of a store, which is due, as a worker does that finds its log damaged. */
async function quarantine(store: Store): Promise<void> {
  const port = connectTo(store) as StorePort
  await port.open()
  const procedures = [{ name: 'quick', versions: [1] }]
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000, procedures })
  const [claimed] = (await port.claims.claim({ worker, procedures }, 1)).runs
  const reason = encodePayload({ name: 'Error', message: 'its log is damaged' }, 'reason')
  if (claimed === undefined) throw new Error('no run is due')
  await port.runs.mark(worker, claimed.run, claimed.epoch, 'quarantined', reason, 'damage')
  await port.close()
}
