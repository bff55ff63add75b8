import { type Ctx, createEngine, type Engine, procedure } from '@pawl/core'
import type { Unit, WorkerKey } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'

// What a run has ready at once is without bound; what a store can carry in one statement is not.

const megabyte = 'x'.repeat(1_000_000)
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const as = { as: 'user:ana' } as const

let units: Unit[] = []
let isAway = false
let engine: Engine

beforeEach(() => {
  units = []
  isAway = false
})
afterEach(async () => {
  await engine.stop()
  const sizes = units.map(({ events, effects }) => {
    const asked = effects.flatMap((effect) => (effect.do === 'open-ask' ? effect.ask : []))
    const answered = asked.flatMap((ask) => ask.answered ?? [])
    return [...events, ...asked, ...answered].reduce((sum, { payload }) => sum + (payload?.length ?? 0), 0)
  })
  expect(Math.max(...sizes)).toBeGreaterThan(7 * 2 ** 20)
  expect(Math.max(...sizes)).toBeLessThan(13 * 2 ** 20)
})

/** On a store that notes what is written, and may be away for a while. */
async function start(
  made: ReturnType<typeof procedure>,
  before: (given: readonly Unit[]) => Promise<void> = async () => {},
): Promise<void> {
  const { store, always } = meddleWith(memory())
  always('log.commit', async (go, args) => {
    if (isAway) throw new Error('the server is away')
    const [, given] = args as readonly [WorkerKey, readonly Unit[]]
    await before(given)
    units.push(...given)
    return go()
  })
  engine = await createEngine({ store, procedures: [made], logger: quiet })
}

test('many large results at once are written in parts', async () => {
  let calls = 0
  const fan = procedure({ name: 'fan' }, async (ctx) => {
    const load = () => {
      calls++
      return megabyte
    }
    return (await Promise.all(Array.from({ length: 40 }, () => ctx.step('load', load)))).length
  })
  await start(fan as never)
  expect(await (await engine.run(fan)).result()).toBe(40)
  expect(calls).toBe(40)
})

test('many large questions at once are written in parts, and the run is released with the last part', async () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    const shown = { params: { text: megabyte } }
    const all = await Promise.all(Array.from({ length: 20 }, () => ctx.human.approve('Fine?', shown)))
    return all.filter(({ approved }) => approved).length
  })
  await start(asking as never)
  const run = await engine.run(asking)
  while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 5))
  const { items } = await engine.inbox.list()
  expect(items.length).toBe(20)
  for (const { id } of items) await engine.inbox.answer(id, { approved: true }, as)
  expect(await run.result()).toBe(20)
})

test('a question and its early answer are written together', async () => {
  const reviewing = procedure({ name: 'reviewing', signals: { ask: z.void() } }, async (ctx) => {
    await ctx.receive('ask')
    const review = (_: unknown, n: number) =>
      ctx.human.review('Fine?', megabyte, { key: `k${n}`, editable: true })
    return (await Promise.all(Array.from({ length: 15 }, review))).filter(({ edited }) => edited).length
  })
  await start(reviewing as never)
  const run = await engine.run(reviewing)
  for (let n = 0; n < 15; n++)
    await engine.inbox.answer(
      { run: run.id, key: `k${n}` },
      { choice: 'approve', artifact: `${megabyte}${n}` },
      as,
    )
  await run.signal('ask')
  expect(await run.result()).toBe(15)
  for (const { events } of units)
    for (const { type, position } of events)
      if (type === 'asked')
        expect(events.map((event) => [event.type, event.position])).toContainEqual(['settled', position])
})

describe('a timeout that does not fit beside them', () => {
  let begun = 0
  let letLoad = (): void => {}
  const loads = (ctx: Ctx, count: number) => {
    const mayLoad = new Promise<void>((resolve) => {
      const before = letLoad
      letLoad = () => {
        before()
        resolve()
      }
    })
    const load = async () => {
      begun++
      await mayLoad
      return megabyte
    }
    return Promise.all(Array.from({ length: count }, () => ctx.step('load', load)))
  }
  /** What comes before the first result is written, and the store away until all have come, the timeout with them. */
  const pileUp = async (
    made: ReturnType<typeof procedure>,
    count: number,
    act: (id: string) => Promise<unknown>,
  ) => {
    begun = 0
    await start(made, async (given) => {
      if (!given.some(({ events }) => events.some(({ kind, type }) => type === 'settled' && kind === 'step')))
        return
      const acting = act
      act = async () => {}
      await acting(id)
    })
    const { id } = await engine.run(made as never)
    await expect.poll(() => begun).toBe(count)
    isAway = true
    letLoad()
    await new Promise((resolve) => setTimeout(resolve, 1_300))
    isAway = false
    return engine.get(id)
  }

  test('a timeout beyond the size of a unit does not overtake earlier events', async () => {
    const hearing = procedure({ name: 'hearing', signals: { go: z.string() } }, async (ctx) => {
      const [, received] = await Promise.all([loads(ctx as never, 14), ctx.receive('go', { timeout: '1s' })])
      return received
    })
    const run = await pileUp(hearing as never, 14, (id) => engine.get(id).signal('go', 'now'))
    expect(await run.result()).toBe('now')
  })

  test('a timeout beyond the size of a unit leaves no question open when the run ends', async () => {
    const racing = procedure({ name: 'racing' }, async (ctx) => {
      await Promise.race([loads(ctx, 8), loads(ctx, 8), ctx.human.approve('Fine?', { timeout: '1s' })])
      return 'over'
    })
    const run = await pileUp(racing as never, 16, async () => {})
    expect(await run.result()).toBe('over')
    const { execution_log } = await engine.log(run.id)
    expect(execution_log.filter(({ status }) => status === 'open')).toEqual([])
    expect((await engine.inbox.list()).items).toEqual([])
  })
})

test('results that pile up during an outage are all written, even if the run ends without them', async () => {
  let done = 0
  const racing = procedure({ name: 'racing' }, async (ctx) => {
    const load = () => {
      done++
      return megabyte
    }
    return (await Promise.race(Array.from({ length: 30 }, () => ctx.step('load', load)))).length
  })
  await start(racing as never)
  const run = await engine.run(racing)
  isAway = true
  while (done < 30) await new Promise((resolve) => setTimeout(resolve, 5))
  isAway = false
  expect(await run.result()).toBe(1_000_000)
  const { execution_log } = await engine.log(run.id)
  expect(execution_log.map(({ status }) => status)).toEqual(Array.from({ length: 30 }, () => 'done'))
})
