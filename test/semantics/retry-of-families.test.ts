import { createEngine, type Engine, FinalError, procedure, ref } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
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
  let open = (): void => {}
  const isOpen = new Promise<void>((resolve) => {
    open = resolve
  })
  const child = procedure({ name: 'child' }, (ctx) => ctx.step('charge', body, once))
  const parent = procedure({ name: 'parent' }, async (ctx) => {
    const charged = ctx.call(ref<typeof child>('child'), undefined, { id: 'c' })
    const pay = ctx.step('pay', () => isOpen.then(other.body), once)
    return (await Promise.all([charged, pay])).join()
  })
  const inner = memory()
  const { store, always } = meddleWith(inner)
  let release = (): void => {}
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  // The child has thrown, and its end waits until its parent has failed and cancelled it.
  always('commit', async (go, [, units]) => {
    if ((units as readonly Unit[]).some(({ next }) => next.do === 'end')) await isReleased
    return go()
  })
  await start({ store, procedures: [child] })
  const engine = await start({ store: inner, procedures: [parent] })
  const run = await engine.run(parent, undefined, { id: 'p' })
  await expect.poll(() => state.calls).toBe(1)
  open()
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  release()
  await expect(engine.get('c').result()).rejects.toMatchObject({ code: 'run-failed' })
  state.isBroken = false
  other.state.isBroken = false
  await engine.retry('p')
  expect(await run.result()).toBe('paid,paid')
  expect(state.calls).toBe(2)
})
