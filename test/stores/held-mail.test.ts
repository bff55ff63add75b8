import { createEngine, type Engine, type Logger, procedure } from '@pawl/core'
import type { Created, NewRun, Unit, UnitOutcome } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }
const signals = { tick: z.null(), go: z.void() }

const brief = procedure({ name: 'brief', signals, output: z.string() }, async () => 'done')
const sleeper = procedure({ name: 'sleeper', signals, output: z.string() }, async (ctx) => {
  await ctx.sleep('10ms')
  await ctx.receive('go')
  return 'woken'
})
const rounds = procedure(
  { name: 'rounds', signals, input: z.object({ n: z.number() }), output: z.number() },
  async (ctx, { n }) => (n < 2 ? ctx.continueAs({ n: n + 1 }) : n),
)
const sender = procedure({ name: 'sender', input: z.object({ to: z.string() }) }, async (ctx, { to }) => {
  await ctx.get(brief, to).signal('go')
  return ctx.get(brief, to).result()
})
const waiter = procedure({ name: 'waiter', input: z.object({ to: z.string() }) }, (ctx, { to }) =>
  ctx.get(brief, to).result(),
)

describe('a run that holds clients back', () => {
  const makePlace = makePlaces()
  /** An engine in whose store a signal meets each such write of the run, as if its senders never paused. */
  async function start(id: string): Promise<{ readonly engine: Engine; readonly outcomes: string[] }> {
    const { store, remove } = await makePlace()
    const meddling = meddleWith(store)
    const outcomes: string[] = []
    meddling.always('log.commit', async (go, [, units], port) => {
      const { run } = (await port.runs.find(id)) ?? {}
      if ((units as readonly Unit[]).some((unit) => unit.run === run && unit.strict)) {
        const tick = { run: id, kind: 'signal', name: 'tick', key: null, by: null, payload: null } as const
        for (const { outcome } of await port.mail.send([tick], null)) outcomes.push(outcome)
      }
      return go()
    })
    const procedures = [brief, sleeper, rounds]
    const engine = await createEngine({ store: meddling.store, procedures, logger: silent })
    onTestFinished(async () => {
      await engine.stop()
      await remove()
    })
    return { engine, outcomes }
  }

  test('a run ends although a signal meets each of its ends', async () => {
    const { engine, outcomes } = await start('b')
    const run = await engine.run(brief, undefined, { id: 'b' })
    expect(await run.result()).toBe('done')
    expect(outcomes).toEqual(['stored', 'stored', 'stored', 'held'])
    await expect(run.signal('tick', null)).rejects.toMatchObject({ code: 'run-ended' })
  })

  test('a sleep ends although a signal meets each of its ends, and then the run takes signals again', async () => {
    const { engine, outcomes } = await start('s')
    const run = await engine.run(sleeper, undefined, { id: 's' })
    while (!outcomes.includes('held')) await new Promise((resolve) => setTimeout(resolve, 5))
    await run.signal('go')
    expect(await run.result()).toBe('woken')
    expect(outcomes.filter((one) => one === 'held')).toHaveLength(2)
  })

  test('a generation begins although a signal meets each of its beginnings', async () => {
    const { engine, outcomes } = await start('r')
    const run = await engine.run(rounds, { n: 1 }, { id: 'r' })
    expect(await run.result()).toBe(2)
    expect(outcomes.filter((one) => one === 'held')).toHaveLength(2)
  })

  test('another run that sends to it, or waits for its end, sends again', async () => {
    const { store, remove } = await makePlace()
    const meddling = meddleWith(store)
    let hold = async (_forMs: number): Promise<unknown> => 'not started'
    meddling.always('runs.create', async (go, [runs], port) => {
      const created = (await go()) as readonly Created[]
      const [{ id, worker } = { id: '', worker: null }] = runs as readonly NewRun[]
      if (id === 'b') hold = (forMs) => port.mail.hold(worker ?? 0, created[0]?.run ?? 0, 1, forMs)
      return created
    })
    let refusals = 0
    let seen = (): void => {}
    meddling.always('log.commit', async (go) => {
      const outcomes = (await go()) as readonly UnitOutcome[]
      for (const one of outcomes) if (one.outcome === 'refused' && one.why === 'held') refusals++
      seen()
      return outcomes
    })
    const refused = (count: number): Promise<void> =>
      new Promise((resolve) => {
        seen = () => refusals >= count && resolve()
      })
    let finish = (): void => {}
    const isFinished = new Promise<void>((resolve) => {
      finish = resolve
    })
    const busy = procedure({ name: 'brief', signals, output: z.string() }, async (ctx) => {
      await ctx.step('work', () => isFinished)
      await ctx.receive('go')
      return 'done'
    })
    const engine = await createEngine({
      store: meddling.store,
      procedures: [busy, sender, waiter],
      logger: silent,
    })
    onTestFinished(async () => {
      await engine.stop()
      await remove()
    })
    await engine.run(busy, undefined, { id: 'b' })
    expect(await hold(3_600_000)).toBe(0)
    const others = [await engine.run(sender, { to: 'b' }), await engine.run(waiter, { to: 'b' })]
    await refused(4)
    await hold(0)
    finish()
    expect(await Promise.all(others.map((run) => run.result()))).toEqual(['done', 'done'])
  })
})
