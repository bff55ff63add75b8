import { createEngine, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import type { TestDatabase } from '../../../test/support/postgres-database.ts'
import { RecordingPool } from '../../../test/support/recording-pool.ts'
import { explain } from './support/explain.ts'
import { makePartitioned, partitioned } from './support/partitioned.ts'
import { createOwned, open } from './support/units.ts'

// The conformance of a store with such tables is in partitioned.torture.ts.
let database: TestDatabase
beforeAll(async () => {
  database = await makePartitioned()
})
afterAll(() => database.remove())

test('an engine executes a run with a step, a question and a signal on partitioned tables', async () => {
  const order = procedure({ name: 'order', signals: { paid: z.number() } }, async (ctx) => {
    const cents = await ctx.step('price', () => 100)
    const approval = await ctx.human.approve('Pay?', { key: 'pay' })
    return [cents, approval.approved, await ctx.receive('paid')]
  })
  const engine = await createEngine({ store: postgres(database.url, partitioned), procedures: [order] })
  onTestFinished(() => engine.stop())
  const run = await engine.run(order, undefined, { id: 'order' })
  await engine.inbox.answer({ run: 'order', key: 'pay' }, { approved: true }, { as: 'user:ana' })
  await run.signal('paid', 100)
  expect(await run.result()).toEqual([100, true, 100])
})

test('a statement about one run reads one partition', async () => {
  const recording = new RecordingPool(database.url)
  const port = await open(postgres({ pool: recording }, { ...partitioned, notifications: false }))
  onTestFinished(async () => {
    await port.close()
    await recording.end()
  })
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [a] = await createOwned(port, worker, ['a', 'b', 'c', 'd'])
  if (!a) throw new Error('not created')
  await port.log.load(a.run, 0, 10)
  await port.mail.list(a.run, 0)
  const [log, mail] = [recording.last('seq >='), recording.last('not used')]
  expect((await explain(database.owner, log)).tables).toEqual(
    new Set([expect.stringMatching(/^events_\d+$/)]),
  )
  expect((await explain(database.owner, mail)).tables).toEqual(
    new Set([expect.stringMatching(/^messages_\d+$/)]),
  )
})
