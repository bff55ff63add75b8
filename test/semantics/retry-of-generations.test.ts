import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

test('a retry keeps what earlier generations have exposed and saved', async () => {
  let isBroken = true
  const order = procedure(
    {
      ...{ name: 'order', input: z.object({ round: z.number() }), signals: { go: z.void() } },
      state: { first: z.string(), second: z.string() },
    },
    async (ctx, { round }): Promise<string> => {
      if (round === 1) {
        ctx.expose('first', 'begun')
        await ctx.checkpoint('begun')
        await ctx.sleep('1h')
        return ctx.continueAs({ round: 2 })
      }
      await ctx.checkpoint('continued')
      await ctx.sleep('1h')
      const paid = await ctx
        .step('pay', () => (isBroken ? Promise.reject(new Error('card declined')) : 'paid'), {
          retry: { attempts: 1 },
        })
        .catch((error: unknown) => error)
      if (paid === 'paid') return ctx.receive('go').then(() => 'paid')
      ctx.expose('second', 'failed')
      await ctx.checkpoint('failed')
      throw paid
    },
  )
  await using engine = await testEngine({ procedures: [order] })
  const run = await engine.run(order, { round: 1 }, { id: 'o' })
  await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
  const names = async () => (await engine.checkpoints.list('o')).map(({ name }) => name)
  expect(await names()).toEqual(['failed', 'continued', 'begun'])
  expect(await run.state('second')).toBe('failed')
  isBroken = false
  await engine.retry('o')
  expect(await names()).toEqual(['continued', 'begun'])
  expect(await run.state('first')).toBe('begun')
  expect(await run.state('second')).toBeUndefined()
  await run.signal('go')
  expect(await run.result()).toBe('paid')
})
