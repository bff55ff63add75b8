import { expect, it } from 'vitest'
import { connect, transact } from '../../../test/support/sqlite.ts'
import { openStore, tempFile } from './support/stores.ts'

const day = 24 * 60 * 60 * 1_000

it('trimming deletes entries older than an instant, some at a time, and never the newest', async () => {
  const file = tempFile()
  const port = await openStore(file)
  const started = { type: 'started', position: -1, turn: 0, kind: null, name: 'x', nth: 0 } as const
  const rest = {
    procedure: 'x',
    version: 1,
    link: new Uint8Array(32),
    worker: null,
    tags: [],
    startedBy: null,
  }
  await port.runs.create([
    { id: 'a', ...rest, started: { ...started, failed: false, tookMs: null, payload: null } },
  ])
  const database = connect(file)
  const insert = database.prepare('insert into feed (at, kind, run, position) values (?, 2, 1, null)')
  const addMany = (count: number, at: number) =>
    transact(database, () => {
      for (let i = 0; i < count; i++) insert.run(at)
    })
  const now = await port.now()
  addMany(2_500, now - 8 * day)
  addMany(3, now - 6 * day)
  for (const count of [1_000, 1_000, 500, 0]) expect(await port.feed.trim(now - 7 * day, 1_000)).toBe(count)
  expect(await port.feed.read(0, 10)).toMatchObject({
    oldest: 2_501,
    newest: 2_503,
    entries: [{ n: 2_501 }, { n: 2_502 }, { n: 2_503 }],
  })
  database.prepare('update feed set at = ?').run(now - 8 * day)
  expect(await port.feed.trim(now - 7 * day, 1_000)).toBe(2)
  expect(await port.feed.read(0, 10)).toMatchObject({ oldest: 2_503, newest: 2_503 })
  addMany(1, now)
  expect(await port.feed.read(0, 10)).toMatchObject({ newest: 2_504 })
  database.close()
})
