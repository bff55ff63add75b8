import { createClient, createEngine, type Engine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { WorkPerRound } from '../support/work-per-round.ts'

// However much there is to do at once: what the engine does in one round of the event loop does not grow with it.

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const few = 1_000
const many = 3_000

const echo = procedure({ name: 'echo', input: z.number() }, (ctx, i) => ctx.step('echo', () => i))
const waits = procedure({ name: 'waits', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))

let engine: Engine
let work: WorkPerRound
let store: ReturnType<typeof meddleWith>

beforeEach(async () => {
  store = meddleWith(memory())
  work = new WorkPerRound(store, ['create', 'commit', 'send', 'answer', 'find', 'load', 'ask'])
  engine = await createEngine({ store: store.store, procedures: [echo, waits], logger: quiet })
})
afterEach(async () => {
  await engine.stop()
  work.stop()
})

const count = (length: number) => Array.from({ length }, (_, i) => i)

/** The most of each in one round, for few and for many. */
async function compare(
  methods: readonly Parameters<WorkPerRound['most']>[0][],
  task: (n: number) => Promise<void>,
): Promise<readonly [few: readonly number[], many: readonly number[]]> {
  const measure = async (n: number) => {
    work.reset()
    await task(n)
    return methods.map((method) => work.most(method))
  }
  return [await measure(few), await measure(many)]
}

describe('at once', () => {
  test('runs are started, and executed, in slices', async () => {
    const [some, more] = await compare(['create', 'commit'], async (n) => {
      const runs = await Promise.all(count(n).map((i) => engine.run(echo, i)))
      expect(await Promise.all(runs.map((run) => run.result()))).toEqual(count(n))
    })
    expect(some[0]).toBe(250)
    expect(more[0]).toBe(250)
    for (const rows of [some[1], more[1]]) expect(rows).toBeLessThanOrEqual(1_500)
  })

  test('signals are sent, and the runs that get them loaded, in slices', async () => {
    const [some, more] = await compare(['send', 'load', 'commit'], async (n) => {
      const runs = await Promise.all(count(n).map(() => engine.run(waits)))
      await Promise.all(runs.map((run, i) => run.signal('go', i)))
      expect(await Promise.all(runs.map((run) => run.result()))).toEqual(count(n))
    })
    expect(some[0]).toBe(250)
    expect(more[0]).toBe(250)
    expect(more[1]).toBeLessThanOrEqual(350)
    expect(more[2]).toBeLessThanOrEqual(1_500)
  })

  test('results are looked up in slices, by a client beside other calls', async () => {
    const runs = await Promise.all(count(many).map((i) => engine.run(echo, i)))
    for (const run of runs) await run.result()
    const client = createClient({ store: store.store })
    const [some, more] = await compare(['find', 'load'], async (n) => {
      const handles = runs.slice(0, n).map(({ id }) => client.get(echo, id))
      expect(await Promise.all(handles.map((run) => run.result()))).toEqual(count(n))
    })
    await client.stop()
    expect(some).toEqual([250, 250])
    expect(more).toEqual([250, 250])
  })
})
