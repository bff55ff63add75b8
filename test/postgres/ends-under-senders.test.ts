import { type Client, createClient, createEngine, PawlError, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { makeDatabase } from '../support/postgres-database.ts'

const clients = 12
/** Those of one client share a transaction. */
const sendersOfClient = 5
const counter = procedure({ name: 'counter', signals: { tick: z.null(), stop: z.void() } }, (ctx) =>
  ctx.receive('stop'),
)

test('a run ends while many clients keep sending to it, and each hears that it has', async () => {
  const database = await makeDatabase()
  const store = postgres(database.url)
  const engine = await createEngine({ store, procedures: [counter] })
  const all = Array.from({ length: clients }, () => createClient({ store: postgres(database.url) }))
  onTestFinished(async () => {
    for (const client of all) await client.stop()
    await engine.stop()
    await database.remove()
  })
  const run = await engine.run(counter, undefined, { id: 'c' })
  let sent = 0
  const send = async (client: Client): Promise<unknown> => {
    for (;;) {
      try {
        await client.get(counter, 'c').signal('tick', null)
        sent++
      } catch (error) {
        return PawlError.is(error) ? error.code : error
      }
    }
  }
  const sending = all.flatMap((client) => Array.from({ length: sendersOfClient }, () => send(client)))
  while (sent < sending.length) await new Promise((resolve) => setTimeout(resolve, 5))
  await run.signal('stop')
  await run.result()
  expect(new Set(await Promise.all(sending))).toEqual(new Set(['run-ended']))
})
