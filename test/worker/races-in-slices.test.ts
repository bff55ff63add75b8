import { FinalError, procedure } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { startBareEngine } from '../support/bare-engine.ts'
import { meddleWith } from '../support/meddling-store.ts'

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const signals = { a: z.string(), b: z.string() }

test('a race whose branches settle while its operations are still starting ends, and writes no empty unit', async () => {
  const picky = procedure({ name: 'picky', signals }, async (ctx) => {
    const first = await ctx.race({
      one: ctx.step('one', () => 1),
      two: ctx.step('two', () => 2),
      a: ctx.receive('a'),
      b: ctx.receive('b'),
      late: ctx.sleep('1h'),
    })
    return [first.winner, await ctx.receive('a')]
  })
  const { store, always } = meddleWith(memory())
  let empty = 0
  always('log.commit', (go, [, units]) => {
    for (const { events, effects, next } of units as readonly Unit[])
      if (events.length === 0 && effects.length === 0 && next.do === 'keep') empty++
    return go()
  })
  const { client, stop } = await startBareEngine({
    ...{ store, procedures: [picky], logger: quiet, keep: { runs: 10, bytes: 1e6 } },
    slices: { begun: 1, drafts: 1 },
  })
  onTestFinished(stop)
  const run = await client.run(picky)
  await run.signal('a', 'of a')
  expect(await run.result()).toEqual(['one', 'of a'])
  expect(empty).toBe(0)
})

test('a race that ends its run while a cancel waits behind the result of the other branch lets the run end', async () => {
  const gates = new Map<string, () => void>()
  const wait = (name: string) => () => new Promise<string>((resolve) => gates.set(name, () => resolve(name)))
  const open = (name: string) => gates.get(name)?.()
  const racing = procedure({ name: 'racing' }, async (ctx) => {
    const beside = ctx.step('beside', wait('beside'))
    const first = await ctx.race({ one: ctx.step('one', wait('one')), two: ctx.step('two', wait('two')) })
    return [first.winner, await beside]
  })
  const { store, always } = meddleWith(memory())
  let hold = () => {}
  const isHeld = new Promise<void>((resolve) => {
    hold = resolve
  })
  let release = () => {}
  const isReleased = new Promise<void>((resolve) => {
    release = resolve
  })
  let empty = 0
  always('log.commit', async (go, [, units]) => {
    const all = units as readonly Unit[]
    if (all.some(({ events }) => events.some(({ name }) => name === 'beside'))) {
      hold()
      await isReleased
    }
    empty += all.filter(({ events, effects }) => events.length + effects.length === 0).length
    return go()
  })
  const engine = await startBareEngine({
    ...{ store, procedures: [racing], logger: quiet, keep: { runs: 10, bytes: 1e6 } },
  })
  onTestFinished(engine.stop)
  const run = await engine.client.run(racing)
  while (gates.size < 3) await new Promise((resolve) => setImmediate(resolve))
  open('beside')
  await isHeld
  open('one')
  open('two')
  await run.cancel('too late')
  release()
  expect(await run.result()).toEqual(['one', 'beside'])
  expect(empty).toBe(0)
})

test('a race starts all of its branches, although another run has the id of a child that one of them creates', async () => {
  const other = procedure({ name: 'other' }, async () => 'other')
  const child = procedure({ name: 'child' }, async () => 'child')
  const racing = procedure({ name: 'racing' }, (ctx) =>
    ctx.race({
      failing: async (own) => {
        await own.step('failing', () => Promise.reject(new FinalError('no luck'))).catch(() => {})
        await own.sleep('1h')
      },
      taken: async (own) => {
        await own.call(child, undefined, { id: 'taken' }).catch(() => {})
        await own.sleep('1h')
      },
      last: (own) => own.step('last', () => 'last'),
    }),
  )
  const { client, stop } = await startBareEngine({
    ...{ store: memory(), procedures: [racing, other, child], logger: quiet, keep: { runs: 10, bytes: 1e6 } },
    slices: { begun: 1, drafts: 1 },
  })
  onTestFinished(stop)
  await (await client.run(other, undefined, { id: 'taken' })).result()
  const run = await client.run(racing)
  expect(await run.result()).toMatchObject({ winner: 'last' })
})
