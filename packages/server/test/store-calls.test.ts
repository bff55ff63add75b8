import { createEngine, procedure } from '@pawl/core'
import type { StoreCall } from '@pawl/core/internal'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { meddleWith } from '../../../test/support/meddling-store.ts'
import { byToken, dispatchOf, requestOf, silent } from './support/server.ts'

test('an answer over HTTP reads the ask before and after, and is stored, in five calls of the store', async () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => (await ctx.human.approve('Go?')).approved)
  const meddled = meddleWith(memory())
  const calls: string[] = []
  const watched: readonly StoreCall[] = [
    ...(['asks.findByRunKey', 'asks.find', 'asks.findByKey', 'asks.answer', 'now'] as const),
    ...(['runs.list', 'runs.find', 'mail.send', 'log.commit'] as const),
  ]
  for (const name of watched)
    meddled.always(name, (go) => {
      calls.push(name)
      return go()
    })
  const engine = await createEngine({ store: meddled.store, procedures: [asking], logger: silent })
  const { dispatch } = dispatchOf({ client: engine, auth: byToken })
  const run = await engine.run(asking)
  const ask = await engine.inbox.next({ run: run.id })
  await expect.poll(async () => (await run.status()).status).toBe('waiting')
  calls.length = 0
  const reply = await dispatch(
    requestOf('root', 'POST', `/v1/asks/${ask.id}/answer?digest=${ask.digest}`, { approved: true }),
  )
  expect(reply.status).toBe(200)
  // Reads of the result are not of the answer.
  await expect.poll(() => calls.filter((name) => name === 'log.commit').length).toBe(2)
  expect(calls.toSorted()).toEqual([
    ...['asks.answer', 'asks.findByRunKey', 'asks.findByRunKey', 'log.commit', 'log.commit'],
  ])
  await engine.stop()
})
