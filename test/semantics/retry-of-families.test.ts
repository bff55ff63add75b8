import { createEngine, type Engine, FinalError, procedure, ref } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const once = { retry: { attempts: 1 } } as const

/** A body that fails until it is mended, and counts its calls. */
function breakable() {
  const state = { isBroken: true, calls: 0 }
  const body = (): string => {
    state.calls++
    if (state.isBroken) throw new FinalError('card declined')
    return 'paid'
  }
  return { state, body }
}

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

async function start(options: Omit<Parameters<typeof createEngine>[0], 'logger'>): Promise<Engine> {
  const engine = await createEngine({ ...options, logger: silent })
  onTestFinished(() => engine.stop())
  return engine
}

test('a child that is retried with its parent is cancelled once the parent no longer waits for it', async () => {
  let isBroken = true
  const child = procedure({ name: 'child', signals: { end: z.void() } }, (ctx) => ctx.receive('end'))
  const parent = procedure({ name: 'parent', signals: { go: z.void() }, bugs: 'fail' }, async (ctx) => {
    const { winner } = await ctx.race({
      child: (own) => own.call(child, undefined, { id: 'c' }),
      go: (own) => own.receive('go'),
    })
    if (isBroken) throw new Error('not today')
    return winner
  })
  const engine = await start({ store: memory(), procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(async () => (await engine.list({ parent: 'p' })).items.length).toBe(1)
  await run.signal('go')
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  isBroken = false
  await engine.retry('p')
  expect(await run.result()).toBe('go')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
})

test('a child that is retried with its parent ends with it, although the parent never comes to wait for it', async () => {
  const { state, body } = breakable()
  const child = procedure({ name: 'child', signals: { end: z.void() } }, (ctx) => ctx.receive('end'))
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    const paid = await ctx.step('pay', body, once).catch((error: unknown) => error)
    if (paid === 'paid') return paid
    await ctx.spawn(child, undefined, { id: 'c' })
    throw paid
  })
  const engine = await start({ store: memory(), procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  state.isBroken = false
  await engine.retry('p')
  expect(await run.result()).toBe('paid')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
})

test('a child that failed before it saw its cancel is retried before its own failure', async () => {
  const { state, body } = breakable()
  const other = breakable()
  const hasCharged = gate()
  const mayEnd = gate()
  const child = procedure({ name: 'child' }, (ctx) => ctx.step('charge', body, once))
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    const charged = ctx.call(ref<typeof child>('child'), undefined, { id: 'c' })
    const pay = ctx.step('pay', () => hasCharged.opened.then(other.body), once)
    return (await Promise.all([charged, pay])).join()
  })
  const inner = memory()
  const { store, always } = meddleWith(inner)
  // The child has thrown, and its end waits until its parent has failed and cancelled it.
  always('log.commit', async (go, [, units]) => {
    if ((units as readonly Unit[]).some(({ next }) => next.do === 'end')) await mayEnd.opened
    return go()
  })
  await start({ store, procedures: [child] })
  const engine = await start({ store: inner, procedures: [parent] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(() => state.calls).toBe(1)
  hasCharged.open()
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  mayEnd.open()
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  other.state.isBroken = false
  await engine.retry('p')
  expect(await run.result()).toBe('paid,paid')
  expect(state.calls).toBe(2)
})

test('the grandchildren that ended with a failed child continue, although its parent failed later', async () => {
  const { state, body } = breakable()
  const clock = { now: Date.now() }
  const isThere = gate()
  const grand = procedure({ name: 'grand', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    return 'gone'
  })
  const child = procedure({ name: 'child' }, async (ctx) => {
    const gone = ctx.call(grand, undefined, { id: 'g' })
    const pay = ctx.step('pay', () => isThere.opened.then(body), once)
    return (await Promise.all([gone, pay])).join()
  })
  const parent = procedure({ name: 'parent', signals: { fail: z.void() } }, async (ctx) => {
    const called = ctx.call(child, undefined, { id: 'c' })
    return called.catch((error: unknown) => ctx.receive('fail').then(() => Promise.reject(error)))
  })
  const engine = await start({ store: memory({ now: () => clock.now }), procedures: [parent, child, grand] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(async () => (await engine.list({ parent: 'c' })).items.length).toBe(1)
  isThere.open()
  await expect(engine.get('g').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  clock.now += 1_000
  await run.signal('fail')
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  expect((await engine.previewRetry('p')).children).toEqual(['g', 'c'])
  await engine.retry('p')
  await engine.get('g').signal('go')
  expect(await run.result()).toBe('gone,paid')
})

/** A parent that has failed and has cancelled its child `c`. Once it is retried, it never comes to spawn that child. */
async function failedWithChild() {
  const { state, body } = breakable()
  const child = procedure({ name: 'child', signals: { end: z.void() } }, (ctx) => ctx.receive('end'))
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    const paid = await ctx.step('pay', body, once).catch((error: unknown) => error)
    if (paid === 'paid') return paid
    await ctx.spawn(child, undefined, { id: 'c' })
    throw paid
  })
  const { store, next } = meddleWith(memory())
  const engine = await start({ store, procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  state.isBroken = false
  return { engine, run, next }
}

test('a retry that breaks off leaves no live child below a failed parent', async () => {
  const { engine, run, next } = await failedWithChild()
  next('runs.restart', () => Promise.reject(new Error('the caller dies')))
  await expect(engine.retry('p')).rejects.toThrow('the caller dies')
  expect(await run.status()).toMatchObject({ status: 'failed' })
  expect(await engine.get('c').status()).toMatchObject({ status: 'cancelled' })
  await engine.retry('p')
  expect(await run.result()).toBe('paid')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
})

test('a child ends with its parent after two retries at once', async () => {
  const { engine, run, next } = await failedWithChild()
  next('runs.restart', (go) => engine.retry('p').then(go))
  await engine.retry('p').catch((error) => expect(error).toMatchObject({ code: 'run-ended' }))
  expect(await run.result()).toBe('paid')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect((await engine.get('c').status()).generation).toBe(2)
})

test('a slow retry brings back no child of a parent that another retry has completed', async () => {
  let isBroken = true
  let effects = 0
  const child = procedure({ name: 'child', signals: { end: z.void() } }, async (ctx) => {
    await ctx.receive('end', { timeout: isBroken ? '1h' : '1ms' }).catch(() => {})
    await ctx.step('effect', () => void effects++)
  })
  const parent = procedure({ name: 'parent', signals: { go: z.void() }, bugs: 'fail' }, async (ctx) => {
    const { winner } = await ctx.race({
      child: (own) => own.call(child, undefined, { id: 'c' }),
      go: (own) => own.receive('go'),
    })
    if (isBroken) throw new Error('not today')
    return winner
  })
  const { store, next } = meddleWith(memory())
  const engine = await start({ store, procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(async () => (await engine.list({ parent: 'p' })).items.length).toBe(1)
  await run.signal('go')
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  isBroken = false
  const [isWaiting, mayGo] = [gate(), gate()]
  next(
    'runs.list',
    async (go) => {
      isWaiting.open()
      await mayGo.opened
      return go()
    },
    ([query]) => (query as { parent: string | null }).parent === 'p',
  )
  const slow = engine.retry('p')
  await isWaiting.opened
  await engine.retry('p')
  expect(await run.result()).toBe('go')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  const before = effects
  mayGo.open()
  await expect(slow).rejects.toMatchObject({ code: 'run-ended' })
  expect(await engine.get('c').status()).toMatchObject({ status: 'cancelled', generation: 2 })
  expect(effects).toBe(before)
})

test('a child that ended a run, which had only found it ended, ends with the run once that is retried', async () => {
  const { state, body } = breakable()
  const clock = { now: Date.now() }
  const [isCleaning, mayClean, hasHeard] = [gate(), gate(), gate()]
  const child = procedure({ name: 'child', signals: { end: z.void() } }, async (ctx) => {
    try {
      await ctx.receive('end')
    } finally {
      isCleaning.open()
      await ctx.shield((own) => own.step('clean', () => mayClean.opened))
    }
  })
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    const called = ctx.call(child, undefined, { id: 'c' }).catch((error: Error) => {
      hasHeard.open()
      return error
    })
    const paid = ctx.step('pay', () => (state.isBroken ? isCleaning : hasHeard).opened.then(body), once)
    const first = await Promise.race([called, paid])
    await paid
    if (first instanceof Error) throw first
    return first
  })
  const engine = await start({ store: memory({ now: () => clock.now }), procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(async () => (await engine.list({ parent: 'p' })).items.length).toBe(1)
  await engine.cancel('c', 'not wanted any more')
  clock.now += 1_000
  // It fails while the child that a person has cancelled before still cleans up.
  await expect(run.result()).rejects.toMatchObject({ details: { cause: { code: 'step-failed' } } })
  mayClean.open()
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  state.isBroken = false
  await engine.retry('p')
  await expect(run.result()).rejects.toMatchObject({ details: { cause: { code: 'run-cancelled' } } })
  await engine.retry('p')
  expect(await run.result()).toBe('paid')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect((await engine.get('c').status()).generation).toBe(2)
})

test('a child that was retried alone does not end with its parent, which has handled its failure', async () => {
  const { state, body } = breakable()
  const other = breakable()
  const child = procedure({ name: 'child', signals: { end: z.void() } }, async (ctx) => {
    await ctx.step('charge', body, once)
    await ctx.receive('end')
    return 'charged'
  })
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    await ctx.call(child, undefined, { id: 'c' }).catch(() => 'not charged')
    return ctx.step('pay', other.body, once)
  })
  const engine = await start({ store: memory(), procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  other.state.isBroken = false
  await engine.retry('c')
  await engine.retry('p')
  expect(await run.result()).toBe('paid')
  await engine.get('c').signal('end')
  expect(await engine.get('c').result()).toBe('charged')
})

/** A run that has spawned `c` in its first or second generation, and fails in the second. */
async function failedContinued(onParentEnd: 'cancel' | 'detach', spawnsIn: 1 | 2) {
  const { state, body } = breakable()
  const child = procedure({ name: 'child', signals: { end: z.void() } }, (ctx) => ctx.receive('end'))
  const input = z.object({ round: z.number() })
  const parent = procedure({ name: 'parent', input }, async (ctx, { round }): Promise<string> => {
    if (round === spawnsIn) await ctx.spawn(child, undefined, { id: 'c', onParentEnd })
    return round === 1 ? ctx.continueAs({ round: 2 }) : ctx.step('pay', body, once)
  })
  const engine = await start({ store: memory(), procedures: [parent, child] })
  const run = await engine.run(parent, { round: 1 }, { id: 'p' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  if (onParentEnd === 'detach') await engine.cancel('c', 'not wanted any more')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  state.isBroken = false
  await engine.retry('p')
  expect(await run.result()).toBe('paid')
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  return (await engine.get('c').status()).generation
}

test.each([1, 2] as const)(
  'a detached child that a person has cancelled since stays cancelled: spawned in generation %i',
  async (spawnsIn) => {
    expect(await failedContinued('detach', spawnsIn)).toBe(1)
  },
)

test.each([1, 2] as const)(
  'a child that the failure has cancelled continues, and ends with its parent: spawned in generation %i',
  async (spawnsIn) => {
    expect(await failedContinued('cancel', spawnsIn)).toBe(2)
  },
)

/** A parent whose child has undone a booking, and has failed or was cancelled. `calls`: the idempotency keys of its mails. */
async function failedOverUndone(why: 'failed' | 'cancelled') {
  const { state, body } = breakable()
  const mails: string[] = []
  const isThere = gate()
  const child = procedure({ name: 'child', signals: { go: z.void() } }, async (ctx) => {
    await ctx.step('send mail', ({ idempotencyKey }) => void mails.push(idempotencyKey))
    await ctx.step('book', () => 'booked', { undo: () => 'undone' })
    isThere.open()
    return why === 'failed' ? ctx.step('charge', body, once) : ctx.receive('go').then(() => 'gone')
  })
  const middle = procedure({ name: 'middle' }, (ctx) => ctx.call(child, undefined, { id: 'c' }))
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    const called = ctx.call(middle, undefined, { id: 'm' })
    const pay = ctx.step('pay', () => isThere.opened.then(why === 'failed' ? () => 'paid' : body), once)
    return (await Promise.all([called, pay])).join()
  })
  const engine = await start({ store: memory(), procedures: [parent, middle, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: `run-${why}` })
  state.isBroken = false
  return { engine, mails }
}

test.each(['failed', 'cancelled'] as const)(
  'a run is not retried over a child that has undone its steps, at any depth: the child has %s',
  async (why) => {
    const { engine, mails } = await failedOverUndone(why)
    const refusal = { code: 'run-rolled-back', details: { run: 'p', child: 'c' } }
    await expect(engine.previewRetry('p')).rejects.toMatchObject(refusal)
    await expect(engine.retry('p')).rejects.toMatchObject(refusal)
    await expect(engine.retry('p')).rejects.toThrow(
      'Run p cannot be retried, because its child c has undone its steps. It stays as it is. Start a run with a different id.',
    )
    for (const id of ['p', 'm', 'c']) expect((await engine.get(id).status()).generation).toBe(1)
    expect(mails).toHaveLength(1)
  },
)

test('a child that a failed race has cancelled continues, although its parent failed later', async () => {
  const { state, body } = breakable()
  const clock = { now: Date.now() }
  const isThere = gate()
  const child = procedure({ name: 'child', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
  const signals = { fail: z.void(), end: z.void() }
  const parent = procedure({ name: 'parent', signals }, (ctx) =>
    ctx
      .race({
        child: (own) => own.call(child, undefined, { id: 'c' }),
        pay: (own) => own.step('pay', () => isThere.opened.then(body), once).then(() => own.receive('end')),
      })
      .then(({ winner }) => winner)
      .catch((error: unknown) => ctx.receive('fail').then(() => Promise.reject(error))),
  )
  const engine = await start({ store: memory({ now: () => clock.now }), procedures: [parent, child] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(async () => (await engine.list({ parent: 'p' })).items.length).toBe(1)
  isThere.open()
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  clock.now += 1_000
  await run.signal('fail')
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  expect((await engine.previewRetry('p')).children).toEqual(['c'])
  await engine.retry('p')
  await engine.get('c').signal('go')
  expect(await run.result()).toBe('child')
})

describe('a retry of a run whose child was deleted', () => {
  /** A parent that has failed by its child. `mails`: the idempotency keys of the mails that the child has sent. */
  async function failedByChild(how: 'call' | 'spawn' | 'detach') {
    const { state, body } = breakable()
    const mails: string[] = []
    const child = procedure({ name: 'child' }, async (ctx) => {
      await ctx.step('send mail', ({ idempotencyKey }) => void mails.push(idempotencyKey))
      return ctx.step('charge', body, once)
    })
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      if (how === 'call') return ctx.call(child)
      const onParentEnd = how === 'detach' ? how : 'cancel'
      // Its result is behind the one that the retry discards.
      const paid = await ctx.step('pay', body, once).catch((error: unknown) => error)
      const spawned = await ctx.spawn(child, undefined, { onParentEnd })
      await spawned.result().catch(() => {})
      if (paid instanceof Error) throw paid
      return spawned.result()
    })
    const engine = await start({ store: memory(), procedures: [parent, child] })
    const run = await engine.run(parent, undefined, { id: 'p' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    const [deleted] = (await engine.list({ parent: 'p' })).items
    const id = deleted?.id as string
    await expect(engine.get(id).result()).rejects.toMatchObject({ code: 'run-failed' })
    const file = await engine.export(id)
    await engine.delete(id)
    state.isBroken = false
    return { engine, run, mails, id, file }
  }

  test.each(['call', 'spawn', 'detach'] as const)(
    'is refused until the child is imported, and the child repeats nothing: %s',
    async (how) => {
      const { engine, run, mails, id, file } = await failedByChild(how)
      const refusal = { code: 'run-ended', details: { run: 'p', status: 'failed', child: id } }
      await expect(engine.previewRetry('p')).rejects.toMatchObject(refusal)
      await expect(engine.retry('p')).rejects.toMatchObject(refusal)
      expect((await run.status()).generation).toBe(1)
      await engine.import(file)
      await engine.retry('p')
      if (how === 'call') expect(await run.result()).toBe('paid')
      else await expect(run.result()).rejects.toMatchObject({ details: { cause: { code: 'run-failed' } } })
      expect(mails).toHaveLength(1)
    },
  )

  test('goes on if its result is kept', async () => {
    const { state, body } = breakable()
    const mails: string[] = []
    const child = procedure({ name: 'child' }, (ctx) =>
      ctx.step('send mail', ({ idempotencyKey }) => void mails.push(idempotencyKey)),
    )
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      await ctx.call(child, undefined, { id: 'c' })
      return ctx.step('pay', body, once)
    })
    const engine = await start({ store: memory(), procedures: [parent, child] })
    const run = await engine.run(parent, undefined, { id: 'p' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    await engine.delete('c')
    state.isBroken = false
    await engine.retry('p')
    expect(await run.result()).toBe('paid')
    expect(mails).toHaveLength(1)
  })
})
