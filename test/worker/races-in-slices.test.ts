import { procedure } from '@pawl/core'
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
  always('commit', (go, [, units]) => {
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
