import type { Effect, StorePort } from '@pawl/core/storage'
import { postgres } from '@pawl/storage-postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { changeUrl, empty, makeDatabase, type TestDatabase } from '../../../test/support/postgres-database.ts'
import { TcpProxy } from '../../../test/support/tcp-proxy.ts'
import { bytes, createOwned, newAsk, newRun, newUnit, open, until } from './support/units.ts'

let database: TestDatabase
let port: StorePort
let watching: StorePort
let hints: number
let unwatch: () => void
beforeAll(async () => {
  database = await makeDatabase()
  port = await open(postgres(database.url))
})
afterAll(async () => {
  await port.close()
  await database.remove()
})
beforeEach(async () => {
  watching = await open(postgres(database.url))
  hints = 0
  unwatch = watching.watch(() => hints++)
  // The first hint comes when listening has begun.
  await until(() => hints > 0)
  hints = 0
})
afterEach(async () => {
  unwatch()
  await watching.close()
  await empty(database.owner, 'pawl')
})

test('a hint is sent for new runs, messages, answers, questions, ends and released runs', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [a, c] = await createOwned(port, worker, ['a', 'c'])
  if (!a || !c) throw new Error('not created')
  const ask = newAsk(0)
  const calls = [
    () => port.runs.create([newRun('b')]),
    () => port.log.commit(worker, [newUnit(a, { opens: [ask] })]),
    () => port.asks.answer([{ run: 'a', position: 0, by: 'user:ann', payload: bytes('yes') }], null),
    () =>
      watching.mail.send([{ run: 'a', kind: 'signal', name: 's', key: null, by: null, payload: null }], null),
    () =>
      port.log.commit(worker, [
        newUnit({ ...a, head: 2, mail: 2 }, { next: { do: 'end', state: 'completed' } }),
      ]),
    // Handed over: it is due.
    () => port.log.commit(worker, [newUnit(c, { events: [], next: { do: 'park', wakeAt: 0 } })]),
    () => port.workers.release(worker),
  ]
  let received = 0
  const both = port.watch(() => received++)
  await until(() => received > 0)
  received = 0
  for (const call of calls) {
    const before = hints + received
    await call()
    await until(() => hints + received > before)
  }
  both()
})

test('a hint is sent for a run that a unit creates, and for a message that it leaves', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [a] = await createOwned(port, worker, ['a'])
  if (!a) throw new Error('not created')
  const { worker: _, ...run } = newRun('child')
  const message = {
    run: 'child',
    kind: 'signal',
    name: 's',
    key: null,
    by: null,
    payload: null,
    must: true,
  } as const
  const commit = (head: number, effect: Effect) =>
    port.log.commit(worker, [{ ...newUnit({ ...a, head }), effects: [effect] }])
  await commit(1, { do: 'create-run', run: { ...run, parent: { run: 'a', position: 0 } } })
  await until(() => hints === 1)
  await commit(2, { do: 'send', message })
  await until(() => hints === 2)
})

test('steps send no hint', async () => {
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [a] = await createOwned(port, worker, ['a'])
  if (!a) throw new Error('not created')
  for (let head = 1; head < 20; head++) await port.log.commit(worker, [newUnit({ ...a, head })])
  await port.runs.create([newRun('b')])
  await until(() => hints > 0)
  expect(hints).toBe(1)
})

test('a hundred changes at once send a handful of hints', async () => {
  await Promise.all(Array.from({ length: 100 }, (_, index) => port.runs.create([newRun(`run ${index}`)])))
  await until(() => hints > 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(hints).toBeLessThan(60)
})

test("a store's own changes are no hint to it", async () => {
  await watching.runs.create([newRun('a')])
  await port.runs.create([newRun('b')])
  await until(() => hints > 0)
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect(hints).toBe(1)
})

test('listening resumes after the connection broke, and begins with a hint', async () => {
  await database.owner.query(
    `select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = current_database() and query like 'listen %'`,
  )
  await until(() => hints > 0)
  hints = 0
  await port.runs.create([newRun('a')])
  await until(() => hints > 0)
})

test('every change sends a hint by itself', async () => {
  for (let index = 0; index < 20; index++) {
    const before = hints
    await port.runs.create([newRun(`run ${index}`)])
    await until(() => hints > before)
  }
})

test('a watcher that has stopped gets no hint', async () => {
  let others = 0
  const end = watching.watch(() => others++)
  end()
  await port.runs.create([newRun('a')])
  await until(() => hints > 0)
  expect(others).toBe(0)
})

test('without notifications no connection listens and none notifies', async () => {
  const quiet = await open(postgres(database.url, { notifications: false }))
  let received = 0
  const end = quiet.watch(() => received++)
  await port.runs.create([newRun('a')])
  await until(() => hints > 0)
  hints = 0
  await quiet.runs.create([newRun('b')])
  await quiet.runs.create([newRun('c')])
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect([hints, received]).toEqual([0, 0])
  end()
  await quiet.close()
})

test('closing does not wait for a server that does not confirm LISTEN', async () => {
  let stalled = 0
  const decide = (text: string) => {
    if (!text.startsWith('listen')) return 'pass'
    stalled++
    return 'stall'
  }
  const proxy = await TcpProxy.start({ targetPort: Number(new URL(database.url).port), decide })
  const silent = await open(postgres(changeUrl(database.url, { port: proxy.port })))
  silent.watch(() => {})
  await until(() => stalled > 0)
  const closed = silent.close().then(() => 'closed')
  // Before the statement is given up as unheard, after 5 s.
  const waited = new Promise((resolve) => setTimeout(resolve, 4_000, 'still closing').unref())
  expect(await Promise.race([closed, waited])).toBe('closed')
  await proxy.stop()
})
