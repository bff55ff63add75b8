import { createClient, createEngine, PawlError, type Procedure, procedure, type Store } from '@pawl/core'
import { encodePayload } from '@pawl/core/internal'
import { connectTo, type QuarantineCause, type RunKey, type StorePort } from '@pawl/core/storage'
import { memory } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { keepLines, refusalOf } from './support.ts'

const work = procedure({ name: 'work' }, (ctx) => ctx.step('work', () => 'done'))
const procedures = [{ name: 'work', versions: [1] }]
const reason = encodePayload({ name: 'Error', message: 'it was the test' }, 'reason')

async function open(store: Store): Promise<StorePort> {
  const port = connectTo(store) as StorePort
  await port.open()
  onTestFinished(() => port.close())
  return port
}

/** A run of `work` that a worker has marked, and a client of its store. */
async function markOne(mark: 'stuck' | 'quarantined', cause?: QuarantineCause, crashes = 0) {
  const store = memory()
  const client = createClient({ store })
  onTestFinished(() => client.stop())
  await client.run(work, undefined, { id: 'a' })
  const port = await open(store)
  for (let crash = 0; crash < crashes; crash++) {
    const worker = await port.workers.register({ name: 'doomed', leaseMs: -1 })
    await port.claims.claim({ worker, procedures }, 1)
    await port.workers.sweep()
  }
  const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
  const [claimed] = (await port.claims.claim({ worker, procedures }, 1)).runs
  const { run, epoch } = claimed as { run: RunKey; epoch: number }
  expect(await port.runs.mark(worker, run, epoch, mark, reason, cause)).toBe(true)
  return { store, client, port }
}

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
async function start(store: Store, ...procedures: readonly Procedure<any, any, any>[]) {
  const engine = await createEngine({ store, procedures: [work, ...procedures], logger: keepLines().logger })
  onTestFinished(() => engine.stop())
  return engine
}

describe('client.retry', () => {
  for (const cause of ['crashes', 'fault'] as const)
    test(`retry releases a run that is quarantined for ${cause}, and it completes`, async () => {
      const { store, client } = await markOne('quarantined', cause)
      const engine = await start(store)
      expect(await client.get('a').status()).toMatchObject({ status: 'quarantined' })
      await client.retry('a')
      expect(await engine.get('a').result()).toBe('done')
      expect(await client.get('a').status()).toMatchObject({ status: 'completed', failure: undefined })
    })

  test('retry refuses a run that is quarantined for damage, with the reason', async () => {
    const { client, port } = await markOne('quarantined', 'damage', 9)
    const error = await refusalOf(client.retry('a'))
    expect(PawlError.is(error, 'run-quarantined')).toBe(true)
    expect(error.details).toEqual({ run: 'a', reason: 'it was the test' })
    expect(error.message).toBe(
      'Run a cannot be retried, because its log is damaged: it was the test. It stays quarantined. Restore the database from a backup, or do the rest of its work in a run under another id.',
    )
    expect(await port.runs.find('a')).toMatchObject({ mark: 'quarantined', wakeAt: null })
  })

  test('retry recognises a quarantine for crashes by its tries if it has no recorded cause', async () => {
    const older = await markOne('quarantined', undefined, 7)
    await older.client.retry('a')
    expect(await older.port.runs.find('a')).toMatchObject({ mark: 'none', tries: 0 })
    const unknown = await markOne('quarantined', undefined, 6)
    expect(await refusalOf(unknown.client.retry('a'))).toMatchObject({
      code: 'run-quarantined',
      message: expect.stringContaining(
        'by an earlier version, which did not store whether its log is damaged',
      ),
    })
  })

  test('retry makes a stuck run due at once, in the same process and in another', async () => {
    const store = memory()
    const two = procedure({ name: 'two', signals: { go: z.void() } }, async (ctx) => {
      await ctx.step('first', () => 1)
      await ctx.receive('go')
      return 'went'
    })
    const wrong = procedure({ name: 'two', signals: { go: z.void() } }, async (ctx) => {
      await ctx.step(isMended ? 'first' : 'premier', () => 1)
      await ctx.receive('go')
      return 'went'
    })
    let isMended = false
    const before = await createEngine({ store, procedures: [two] })
    for (const id of ['a', 'b']) await before.run(two, undefined, { id })
    for (const id of ['a', 'b'])
      while ((await before.get(id).status()).status !== 'waiting')
        await new Promise((resolve) => setImmediate(resolve))
    await before.stop()

    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const engine = await start(store, wrong)
    for (const id of ['a', 'b']) {
      await engine.get(two, id).signal('go')
      await expect(engine.get(id).result()).rejects.toMatchObject({ code: 'nondeterminism' })
    }
    isMended = true
    await engine.retry('a')
    expect(await engine.get('a').result()).toBe('went')
    expect(await client.get('b').status()).toMatchObject({ status: 'stuck' })
    await client.retry('b')
    expect(await client.get('b').result()).toBe('went')
  })

  test('retry keeps a stuck run due that no engine has claimed yet', async () => {
    const { client, port } = await markOne('stuck')
    await client.retry('a')
    const { wakeAt } = (await port.runs.find('a')) ?? {}
    expect(wakeAt).toEqual(expect.any(Number))
    await client.retry('a')
    expect(await port.runs.find('a')).toMatchObject({ wakeAt, mark: 'stuck' })
  })

  test('retry ignores a run that is waiting, running or already retried', async () => {
    const store = memory()
    const waiting = procedure({ name: 'waiting', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
    const engine = await start(store, waiting)
    const run = await engine.run(waiting, undefined, { id: 'a' })
    while ((await run.status()).status !== 'waiting') await new Promise((resolve) => setImmediate(resolve))
    const port = await open(store)
    const before = await port.runs.find('a')
    await engine.retry('a')
    expect(await port.runs.find('a')).toEqual(before)

    const { client, port: other } = await markOne('stuck')
    await client.retry('a')
    const worker = await other.workers.register({ name: 'w', leaseMs: 60_000 })
    await other.claims.claim({ worker, procedures }, 1)
    await client.retry('a')
    expect(await other.runs.find('a')).toMatchObject({ mark: 'stuck', owned: true })
  })

  test('retry reads the run again if its mark changes meanwhile', async () => {
    const { store, port } = await markOne('stuck')
    const meddling = meddleWith(store)
    const client = createClient({ store: meddling.store })
    onTestFinished(() => client.stop())
    meddling.next('runs.retry', async (go, [run]) => {
      await port.runs.retry(run as RunKey, 'stuck')
      const worker = await port.workers.register({ name: 'w', leaseMs: 60_000 })
      const [claimed] = (await port.claims.claim({ worker, procedures }, 1)).runs
      await port.runs.mark(worker, run as RunKey, claimed?.epoch ?? 0, 'quarantined', reason, 'crashes')
      return go()
    })
    await client.retry('a')
    expect(await port.runs.find('a')).toMatchObject({ mark: 'none', wakeAt: expect.any(Number) })
    expect(await (await start(store)).get('a').result()).toBe('done')
  })

  test('retry refuses a run that has completed or does not exist', async () => {
    const store = memory()
    const engine = await start(store)
    await (await engine.run(work, undefined, { id: 'a' })).result()
    expect(await refusalOf(engine.retry('a'))).toMatchObject({
      code: 'run-ended',
      details: { run: 'a', status: 'completed' },
    })
    expect(await refusalOf(engine.retry('c'))).toMatchObject({ code: 'run-not-found' })
    expect(await refusalOf(engine.retry(7 as never))).toMatchObject({ code: 'option-invalid' })
  })
})
