import { createClient, createEngine, procedure, type RunView } from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** A promise, and what opens it. */
function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const effectsIn = ([, units]: readonly unknown[]) =>
  (units as readonly Unit[]).flatMap(({ effects }) => effects)
const namesIn = ([, units]: readonly unknown[]) =>
  (units as readonly Unit[]).flatMap(({ events }) => events.map(({ name }) => name))
const beginsGeneration = (args: readonly unknown[]) =>
  effectsIn(args).some((one) => one.do === 'begin-generation')

async function untilWaiting(run: { status(): Promise<RunView> }, generation: number): Promise<void> {
  for (;;) {
    const { status, generation: now } = await run.status()
    if (status === 'waiting' && now === generation) return
    await new Promise((resolve) => setImmediate(resolve))
  }
}

type Moment = 'as the last result is recorded' | 'before the commit' | 'after the commit' | 'later'

describe('cancels around continueAs', () => {
  const makePlace = makePlaces()
  test.each<Moment>(['as the last result is recorded', 'before the commit', 'after the commit', 'later'])(
    'a cancel after the return of continueAs undoes what the next generation has registered: %s',
    async (moment) => {
      const undone: number[] = []
      const second = gate()
      const service = procedure(
        { name: 'service', input: z.object({ round: z.number() }), signals: { never: z.void() } },
        async (ctx, { round }): Promise<void> => {
          ctx.onRollback(`round ${round}`, () => void undone.push(round))
          if (round === 1) return void (await ctx.receive('never'))
          await Promise.all([ctx.step('first', () => {}), ctx.step('second', () => second.opened)])
          return ctx.continueAs({ round: 1 })
        },
      )
      const place = await makePlace()
      const { store, next } = meddleWith(place.store)
      const engine = await createEngine({ store, procedures: [service], logger: silent })
      const client = createClient({ store: place.store })
      onTestFinished(async () => {
        await Promise.all([engine.stop(), client.stop()])
        await place.remove()
      })
      if (moment === 'as the last result is recorded')
        // The unit behind this one has both: the result of the second step, and the cancel.
        next(
          'log.commit',
          async (go) => {
            await engine.cancel('a')
            second.open()
            await new Promise((resolve) => setImmediate(resolve))
            return go()
          },
          (args) => namesIn(args).includes('first'),
        )
      else second.open()
      if (moment === 'before the commit')
        next('log.commit', (go) => client.cancel('a').then(go), beginsGeneration)
      if (moment === 'after the commit')
        next(
          'log.commit',
          async (go) => {
            const outcome = await go()
            await client.cancel('a')
            return outcome
          },
          beginsGeneration,
        )
      const run = await engine.run(service, { round: 0 }, { id: 'a' })
      if (moment === 'later') {
        await untilWaiting(run, 2)
        await client.cancel('a')
      }
      await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
      expect(undone).toEqual([1])
      const status = await run.status()
      expect(status).toMatchObject({ status: 'cancelled', generation: 2, rollback: { undone: ['round 1'] } })
      expect(status.rollback?.skipped).toBeUndefined()
    },
  )

  test('a cancel that reaches the procedure undoes its generation, although it returns continueAs', async () => {
    const undone: number[] = []
    const service = procedure(
      { name: 'service', input: z.object({ round: z.number() }), signals: { never: z.void() } },
      async (ctx, { round }): Promise<void> => {
        ctx.onRollback(`round ${round}`, () => void undone.push(round))
        const request = ctx.continueAs({ round: round + 1 })
        await ctx.receive('never').catch(() => {})
        return request
      },
    )
    const place = await makePlace()
    const engine = await createEngine({ store: place.store, procedures: [service], logger: silent })
    onTestFinished(async () => {
      await engine.stop()
      await place.remove()
    })
    const run = await engine.run(service, { round: 0 }, { id: 'a' })
    await untilWaiting(run, 1)
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect(await run.status()).toMatchObject({ generation: 1, rollback: { undone: ['round 0'] } })
    expect(undone).toEqual([0])
  })
})
