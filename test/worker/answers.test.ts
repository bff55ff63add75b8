import { createEngine, procedure } from '@pawl/core'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { meddleWith } from '../support/meddling-store.ts'

test('a valid answer does not read the time of the store, although its ask has a timeout', async () => {
  const { store, always } = meddleWith(memory())
  const asking = procedure({ name: 'asking' }, (ctx) =>
    ctx.human.approve('Pay?', { timeout: '1h', onTimeout: 'reject' }),
  )
  const engine = await createEngine({ store, procedures: [asking] })
  const run = await engine.run(asking)
  const ask = await engine.inbox.next()
  let reads = 0
  always('now', (go) => {
    reads++
    return go()
  })
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  expect(await run.result()).toMatchObject({ approved: true, by: 'user:ana' })
  expect(reads).toBe(0)
  await engine.stop()
})
