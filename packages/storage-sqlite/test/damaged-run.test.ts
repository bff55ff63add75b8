import { createEngine, PawlError, procedure } from '@pawl/core'
import { sqlite } from '@pawl/storage-sqlite'
import SqliteDatabase from 'better-sqlite3'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { tempFile } from './support/stores.ts'

const pay = procedure(
  { name: 'pay', input: z.object({ amount: z.number() }), signals: { go: z.object({}) } },
  async (ctx, { amount }) => {
    const charged = await ctx.step('charge', () => ({ amount }))
    await ctx.receive('go')
    return charged.amount
  },
)

async function startEngine(file: string) {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
  const engine = await createEngine({ store: sqlite(file), procedures: [pay], logger: silent })
  onTestFinished(() => engine.stop())
  return engine
}

it('one flipped bit in a payload quarantines its run, which is never served; the others go on', async () => {
  const file = tempFile()
  const first = await startEngine(file)
  for (const id of ['a', 'b']) {
    const run = await first.run(pay, { amount: 1000 }, { id })
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await first.stop()

  const database = new SqliteDatabase(file)
  const where = "name = 'charge' and run = (select run from runs where id = 'a')"
  const payload = database.prepare(`select payload from events where ${where}`).pluck().get() as Buffer
  // 1000 becomes some other number that reads as well.
  const last = payload.length - 1
  payload.writeUInt8(payload.readUInt8(last) ^ 1, last)
  database.prepare(`update events set payload = ? where ${where}`).run(payload)
  // SQLite has no objection.
  expect(database.pragma('integrity_check', { simple: true })).toBe('ok')
  database.close()

  const second = await startEngine(file)
  for (const id of ['a', 'b']) await second.get(pay, id).signal('go', {})
  expect(await second.get(pay, 'b').result()).toBe(1000)
  const error = await second
    .get(pay, 'a')
    .result()
    .catch((reason: unknown) => reason)
  expect(PawlError.is(error, 'run-quarantined')).toBe(true)
  expect((await second.list({ status: 'quarantined' })).items).toMatchObject([
    { id: 'a', failure: { code: 'run-quarantined', message: expect.stringContaining('do not match') } },
  ])
})
