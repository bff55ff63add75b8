import { createClient, createEngine, procedure } from '@pawl/core'
import { connectTo, type StorePort, type Unit } from '@pawl/core/storage'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { playRounds } from '../support/rounds.ts'
import { makePlaces } from '../support/test-store.ts'

const makePlace = makePlaces()

test.each([false, true])('nothing is lost between generations (cancelled: %s)', async (cancels) => {
  const { store, remove } = await makePlace()
  onTestFinished(remove)
  await playRounds(store, 60, cancels)
})

test('an answer that arrives while the run continues is recorded in its generation, not withdrawn', async () => {
  const asking = procedure(
    { name: 'asking', input: z.object({ round: z.number() }), signals: { next: z.void() } },
    async (ctx, { round }): Promise<string> => {
      if (round === 1) return 'done'
      void ctx.human.approve('Go on?', { key: 'go' }).catch(() => {})
      await ctx.receive('next')
      return ctx.continueAs({ round: 1 })
    },
  )
  const { store: place, remove } = await makePlace()
  onTestFinished(remove)
  const { store, next } = meddleWith(place)
  const client = createClient({ store: place })
  let answered = 0
  next(
    'log.commit',
    async (go) => {
      await client.inbox.answer({ run: 'a', key: 'go' }, { approved: true }, { as: 'user:ana' })
      answered++
      return go()
    },
    ([, units]) =>
      (units as readonly Unit[]).some(({ effects }) => effects.some((one) => one.do === 'begin-generation')),
  )
  const engine = await createEngine({ store, procedures: [asking] })
  const run = await engine.run(asking, { round: 0 }, { id: 'a' })
  const { id } = await engine.inbox.next({ run: 'a' })
  await run.signal('next')
  expect(await run.result()).toBe('done')
  expect((await engine.inbox.get(id))?.status).toBe('answered')
  const port = connectTo(place) as StorePort
  await port.open()
  const events = await port.log.load((await port.runs.find('a'))?.run ?? 0, 0, 100)
  const ofAsk = events.filter(({ kind }) => kind === 'hitl_approval').map(({ type }) => type)
  expect([answered, ofAsk]).toEqual([1, ['asked', 'settled']])
  await Promise.all([port.close(), client.stop()])
  await engine.stop()
})
