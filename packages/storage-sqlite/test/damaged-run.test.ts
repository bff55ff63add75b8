import { createClient, createEngine, PawlError, procedure } from '@pawl/core'
import type { RunRow } from '@pawl/core/storage'
import { expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { linkOf } from '../../../test/support/seal.ts'
import { connect, sqliteStore } from '../../../test/support/sqlite.ts'
import { openStore, tempFile } from './support/stores.ts'

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
  const engine = await createEngine({ store: sqliteStore(file), procedures: [pay], logger: silent })
  onTestFinished(() => engine.stop())
  return engine
}

it('one flipped bit in a payload quarantines its run, and other runs continue', async () => {
  const file = tempFile()
  const first = await startEngine(file)
  for (const id of ['a', 'b']) {
    const run = await first.run(pay, { amount: 1000 }, { id })
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await first.stop()

  const database = connect(file)
  const where = "name = 'charge' and run = (select run from runs where id = 'a')"
  const payload = Buffer.from(
    database.prepare(`select payload from events where ${where}`).pluck().get() as Uint8Array,
  )
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

it('of signals sent at once, only the one to a damaged run fails', async () => {
  const file = tempFile()
  const client = createClient({ store: sqliteStore(file) })
  onTestFinished(() => client.stop())
  const ids = Array.from({ length: 50 }, (_, index) => `run ${index}`)
  // No worker is there: the messages stay unread.
  await Promise.all(ids.map((id) => client.run(pay, { amount: 1 }, { id })))
  await client.get(pay, 'run 7').signal('go', {})
  const database = connect(file)
  database.exec("update runs set mail = 0 where id = 'run 7'")
  const send = () => Promise.allSettled(ids.map((id) => client.get(pay, id).signal('go', {})))
  const sent = await send()
  expect(sent.flatMap(({ status }, index) => (status === 'rejected' ? ids[index] : []))).toEqual(['run 7'])
  expect(sent[7]).toMatchObject({
    reason: {
      code: 'run-quarantined',
      details: { run: 'run 7', reason: expect.stringContaining('UNIQUE constraint failed') },
      message: expect.stringContaining('Nothing was stored by this call; other runs are not affected.'),
    },
  })
  const mails = database.prepare('select count(*) from messages group by run order by run').pluck().all()
  expect(mails).toEqual(ids.map(() => 1))
  database.exec("update runs set mail = 1 where id = 'run 7'")
  database.close()
  expect(new Set((await send()).map(({ status }) => status))).toEqual(new Set(['fulfilled']))
})

it('a run written by a later version waits for it as stuck; others continue', async () => {
  const file = tempFile()
  const first = await startEngine(file)
  const ids = ['kind', 'type', 'payload', 'format', 'same']
  for (const id of ids) {
    const run = await first.run(pay, { amount: 7 }, { id })
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await first.stop()
  const event = (seq: number) => `run = (select run from runs where id = ?) and seq = ${seq}`
  const database = connect(file)
  database.prepare(`update events set kind = 99 where ${event(1)}`).run('kind')
  database.prepare(`update events set type = 99 where ${event(1)}`).run('type')
  database.prepare(`update events set payload = x'c101' where ${event(0)}`).run('payload')
  const started = Buffer.from(
    database
      .prepare(`select payload from events where ${event(0)}`)
      .pluck()
      .get('format') as Uint8Array,
  )
  // { format: 1, … }: the number stands right behind the name.
  started.writeUInt8(2, started.indexOf('format') + 'format'.length)
  database.prepare(`update events set payload = ? where ${event(0)}`).run(started, 'format')
  // A later version has hashed what it wrote: that is what tells it from damage.
  const port = await openStore(file)
  for (const id of ids) {
    const { run } = (await port.runs.find(id)) as RunRow
    const link = linkOf(await port.log.load(run, 0, 10))
    database.prepare('update runs set link = ? where run = ?').run(link, run)
  }
  database.close()

  const second = await startEngine(file)
  for (const id of ids) await second.get(pay, id).signal('go', {})
  expect(await second.get(pay, 'same').result()).toBe(7)
  for (const id of ids.slice(0, 4)) {
    const error = await second
      .get(pay, id)
      .result()
      .catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      message: expect.stringMatching(
        /was written by a later version of Pawl: .*was written by a later version/,
      ),
    })
    expect((await second.get(pay, id).status()).status).toBe('stuck')
    // Of the first event it shows nothing.
    const log = await second.log(id).catch((reason: unknown) => reason)
    if (id === 'kind' || id === 'type')
      expect(log).toMatchObject({
        code: 'run-quarantined',
        message: expect.stringContaining('later version'),
      })
    else expect(log).toMatchObject({ procedure_id: id })
  }
})

it('a run counts as ended only if the last event of its log says so', async () => {
  const file = tempFile()
  const engine = await startEngine(file)
  for (const id of ['waiting', 'completed']) {
    const run = await engine.run(pay, { amount: 7 }, { id })
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await engine.get(pay, 'completed').signal('go', {})
  expect(await engine.get(pay, 'completed').result()).toBe(7)
  await engine.stop()
  const database = connect(file)
  database.exec(
    "update runs set state = 1 where id = 'waiting'; update runs set state = 2 where id = 'completed'",
  )
  const client = createClient({ store: sqliteStore(file) })
  onTestFinished(() => client.stop())
  for (const [id, shown] of [
    ['waiting', 'it is completed, but the last event'],
    ['completed', 'it is failed, but the last event'],
  ] as const) {
    await expect(client.get(id).result()).rejects.toMatchObject({
      code: 'run-quarantined',
      details: { run: id, reason: expect.stringContaining(shown) },
    })
    expect(await client.get(id).status()).toMatchObject({
      status: 'quarantined',
      failure: { code: 'run-quarantined' },
      cancelRequestedAt: undefined,
      cancelReason: undefined,
      leftOver: { signals: [], operations: [] },
    })
  }
  expect(database.prepare('select mark from runs').pluck().all()).toEqual([0, 0])
  database.close()
})
