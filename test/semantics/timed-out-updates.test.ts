import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

test('a run that times out leaves an update unfinished that a handler had begun, and has ended for one that none had', async () => {
  const warnings: string[] = []
  const charged: number[] = []
  const account = procedure(
    {
      name: 'account',
      signals: { close: z.void(), act: z.void() },
      updates: { charge: { input: z.number(), output: z.string() } },
    },
    async (ctx) => {
      ctx.on('charge', async (cents) => {
        await ctx.step('charge', () => void charged.push(cents))
        await ctx.receive('act')
        return 'charged'
      })
      await ctx.receive('close')
    },
  )
  const logger = {
    ...{ debug() {}, info() {}, error() {} },
    warn: (message: string) => void warnings.push(message),
  }
  await using engine = await testEngine({ procedures: [account], logger })
  const run = await engine.run(account, undefined, { id: 'a', timeout: '1h' })
  const updates = [1, 2].map((cents) => refusalOf(run.update('charge', cents, { id: `click ${cents}` })))
  await engine.advance('2h')
  const [begun, waiting] = await Promise.all(updates)
  expect(begun).toMatchObject({
    code: 'update-unfinished',
    details: { update: 'charge', status: 'cancelled' },
  })
  expect(waiting).toMatchObject({ code: 'run-ended', details: { status: 'cancelled' } })
  expect(await refusalOf(run.update('charge', 1, { id: 'click 1' }))).toMatchObject({
    code: 'update-unfinished',
  })
  expect(charged).toEqual([1])
  expect(warnings.filter((one) => one.includes('handlers of updates were at work: "charge"'))).toHaveLength(1)
})
