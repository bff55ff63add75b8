import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { minute, silent } from './support.ts'

const order = procedure({ name: 'order', grace: '5m' }, async (ctx) => {
  await ctx.step('hold the card', () => 'hold-1', { undo: () => 'released' })
  try {
    await ctx.race({ paid: ctx.human.approve('Paid?'), late: ctx.sleep('3d') })
  } finally {
    await ctx.shield((ctx) => ctx.step('tell the shop', () => 'told'))
  }
})
const endless = procedure({ name: 'endless', grace: '5m' }, async (ctx) => {
  await ctx.shield((ctx) => ctx.sleep('1d'))
})

test('an undo that outlasts the grace still completes, and is recorded', async () => {
  let attempts = 0
  const slow = procedure({ name: 'slow', grace: '1ms' }, async (ctx) => {
    ctx.onRollback('release', () => {
      attempts += 1
      if (attempts === 1) throw new Error('not yet')
    })
    await ctx.sleep('3d')
  })
  await using engine = await testEngine({ procedures: [slow] })
  const run = await engine.run(slow)
  await engine.advance('1h')
  await engine.cancel(run.id)
  await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
  expect((await run.status()).rollback).toMatchObject({ undone: ['release'], failed: [] })
  expect(attempts).toBe(2)
})

describe.each(['never', 'every'] as const)('with a crash after %s commit, a cancelled run', (crash) => {
  test('a cancelled run cleans up and undoes, once each', async () => {
    await using engine = await testEngine({ procedures: [order], humans: silent })
    if (crash === 'every') await engine.crash('every')
    const run = await engine.run(order)
    await engine.advance('1h')
    await engine.cancel(run.id, 'customer called', { by: 'user:ana' })
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    const { execution_log } = await engine.log(run.id)
    expect(execution_log.map(({ type, status }) => `${type} ${status}`)).toEqual([
      'step done',
      'hitl_approval withdrawn',
      'step done',
      'undo done',
    ])
    expect(await run.status()).toMatchObject({
      status: 'cancelled',
      cancelReason: 'customer called',
      rollback: { undone: ['hold the card'], failed: [] },
    })
    expect((await engine.inbox.list()).items).toEqual([])
  })

  test('a cancelled run ends when its grace has passed', async () => {
    await using engine = await testEngine({ procedures: [endless] })
    if (crash === 'every') await engine.crash('every')
    const run = await engine.run(endless)
    await engine.advance('1h')
    await run.cancel()
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    const { endedAt, cancelRequestedAt } = await run.status()
    expect(Number(endedAt) - Number(cancelRequestedAt)).toBe(5 * minute)
  })
})
