import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createEngine } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../support/bundle.ts'
import { makeOrder } from '../support/kill/order.ts'
import { makeDatabase } from '../support/postgres-database.ts'
import { RecordingPool } from '../support/recording-pool.ts'

test('an engine as PgBouncer wants it brings a question and a signal to their end, and leaves nothing on a connection', async () => {
  const database = await makeDatabase()
  onTestFinished(() => database.remove())
  const folder = await temporaryFolder()
  onTestFinished(() => rm(folder, { recursive: true }))
  const order = makeOrder(join(folder, 'ledger.ndjson'))
  const pool = new RecordingPool(database.url)
  onTestFinished(() => pool.end())
  const store = postgres({ pool }, { prepared: false, notifications: false })
  const engine = await createEngine({ store, procedures: [order] })
  onTestFinished(() => engine.stop())

  const run = await engine.run(order, { n: 1 }, { id: 'order' })
  await engine.inbox.next({ run: 'order' })
  await engine.inbox.answer({ run: 'order', key: 'go on' }, { approved: true }, { as: 'user:ana' })
  await run.signal('paid', { cents: 101 })
  expect(await run.result()).toMatchObject({ by: 'user:ana', cents: 101 })

  // All of these outlive their transaction, and would meet somebody else on the connection.
  expect(pool.statements.filter(({ name }) => name !== undefined)).toEqual([])
  expect(
    pool.statements.filter(({ text }) => /^\s*(listen|set|prepare|select pg_advisory_lock)\b/i.test(text)),
  ).toEqual([])
})
