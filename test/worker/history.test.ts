import { createEngine, procedure, type Store } from '@pawl/core'
import { connectTo, defineStore, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'

/** A store in memory, and how often a log was read from it. */
function countLoads(): { readonly store: Store; readonly loads: () => number } {
  let loads = 0
  const kept = memory()
  const store = defineStore('counting', () => {
    const port = connectTo(kept) as StorePort
    const load: StorePort['log']['load'] = (...args) => {
      loads++
      return port.log.load(...args)
    }
    return { ...port, log: { ...port.log, load } }
  })
  return { store, loads: () => loads }
}

test('a run that shows many steps with each of its questions reads its log for the first only', async () => {
  const { store, loads } = countLoads()
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    for (let i = 0; i < 20; i++) await ctx.step(`step ${i}`, () => i)
    for (let i = 20; i < 24; i++) {
      await ctx.human.select('Go on?', ['yes'], { history: { last: 10 } })
      await ctx.step(`step ${i}`, () => i)
    }
  })
  const engine = await createEngine({ store, procedures: [asking] })
  const run = await engine.run(asking)
  const shown: number[] = []
  for (let i = 0; i < 4; i++) {
    const ask = await engine.inbox.next({ run: run.id })
    shown.push(...ask.history.slice(-1).map(({ result }) => result as number))
    expect(ask.history).toHaveLength(10)
    await engine.inbox.answer(ask.id, { choice: 'yes' }, { as: 'user:ana' })
  }
  await run.result()
  await engine.stop()
  expect(shown).toEqual([19, 20, 21, 22])
  expect(loads()).toBe(1)
})

test.each([{ last: 10 }, { steps: ['step 3'] }])(
  'questions asked at once read it once (%j)',
  async (history) => {
    const { store, loads } = countLoads()
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      for (let i = 0; i < 20; i++) await ctx.step(`step ${i}`, () => i)
      await Promise.all(
        Array.from({ length: 30 }, (_, i) => ctx.human.select(`Go ${i}?`, ['yes'], { history })),
      )
    })
    const engine = await createEngine({ store, procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    expect(ask.history.length).toBe('last' in history ? 10 : 1)
    await engine.stop()
    expect(loads()).toBe(1)
  },
)
