import { PawlError, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { silent } from './support.ts'

const child = procedure({ name: 'child', input: z.number(), signals: { go: z.number() } }, async (ctx, n) => {
  await ctx.sleep('1h')
  return n + ((await ctx.receive('go')) as number)
})
const endless = procedure({ name: 'endless' }, (ctx) => ctx.sleep('300d'))
const parent = procedure({ name: 'parent' }, async (ctx) => {
  const spawned = await ctx.spawn(child, 1, { id: 'spawned' })
  const called = ctx.call(child, 2, { id: 'called' })
  await Promise.all([spawned.signal('go', 10), ctx.sleep('1m')])
  await ctx.get(child, 'called').signal('go', 20)
  const first = await ctx.race({
    lost: ctx.call(endless, undefined, { id: 'lost' }),
    late: ctx.sleep('2h'),
  })
  const lost = await ctx
    .get(endless, 'lost')
    .result()
    .catch((error: unknown) => PawlError.is(error) && error.code)
  return [await spawned.result(), await called, first.winner, lost]
})

describe.each(['never', 'every'] as const)('with a crash after %s commit', (crash) => {
  test.each(['always', 'on-crash'] as const)(
    'a family comes to the same end (replay: %s)',
    async (replay) => {
      await using engine = await testEngine({ procedures: [parent, child, endless], humans: silent, replay })
      if (crash === 'every') await engine.crash('every')
      const run = await engine.run(parent)
      await engine.advance('1d')
      expect(await run.result()).toEqual([11, 22, 'late', 'run-cancelled'])
      expect(
        (await engine.list()).items.map(({ id, status }) => [id === run.id ? 'parent' : id, status]),
      ).toEqual([
        ['lost', 'cancelled'],
        ['called', 'completed'],
        ['spawned', 'completed'],
        ['parent', 'completed'],
      ])
      expect((await engine.log(run.id)).execution_log.map(({ type, status }) => `${type} ${status}`)).toEqual(
        [
          'spawn done',
          'child done',
          'send done',
          'timer done',
          'send done',
          'child withdrawn',
          'timer done',
          'result failed',
          'result done',
        ],
      )
    },
  )
})
