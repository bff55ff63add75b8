import { createClient, createEngine, type Engine, procedure } from '@pawl/core'
import { connectTo, type WholeStore } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const once = { retry: { attempts: 1 } } as const

describe('calls beside the deletion of their run', () => {
  const makePlace = makePlaces()
  const rounds = Number(process.env['ROUNDS'] ?? 40)
  async function setUp() {
    const place = await makePlace()
    const state = { isBroken: true, calls: [] as string[] }
    const failing = procedure({ name: 'failing' }, async (ctx) => {
      for (let i = 0; i < 8; i++) await ctx.step(`load ${i}`, () => i)
      return ctx.step(
        'charge',
        ({ idempotencyKey }) => {
          state.calls.push(idempotencyKey)
          if (state.isBroken) throw new Error('declined')
          return 'paid'
        },
        once,
      )
    })
    const engines: Engine[] = []
    onTestFinished(async () => {
      for (const engine of engines) await engine.stop()
      await place.remove()
    })
    const { store } = place
    const engine = await createEngine({ store, logger: silent, procedures: [failing] })
    engines.push(engine)
    const fail = async (id: string) => {
      state.isBroken = true
      await expect((await engine.run(failing, undefined, { id })).result()).rejects.toMatchObject({
        code: 'run-failed',
      })
      state.isBroken = false
      state.calls = []
    }
    return { store, engine, failing, state, fail }
  }

  const settle = (call: Promise<unknown>): Promise<string> =>
    call.then(
      () => 'done',
      (error: Error & { readonly code?: string }) => error.code ?? error.message,
    )

  test.each(['retry', 'previewRetry'] as const)(
    '%s of a run that is deleted while its log is read finds no run',
    async (verb) => {
      const { store, engine, state, fail } = await setUp()
      await fail('a')
      const meddling = meddleWith(store)
      meddling.next('log.load', async (go) => {
        await engine.delete('a')
        return go()
      })
      const client = createClient({ store: meddling.store })
      await expect(client[verb]('a')).rejects.toMatchObject({ code: 'run-not-found' })
      await client.stop()
      expect(state.calls).toEqual([])
    },
  )

  test('a run that is deleted just before its retry is written stays deleted', async () => {
    const { store, engine, state, fail } = await setUp()
    await fail('a')
    const meddling = meddleWith(store)
    // Its log is still there: only the first part of a deletion has been done.
    meddling.next('runs.restart', async (go, _, connection) => {
      const row = await connection.runs.find('a')
      expect(await connection.removals.remove([row?.run ?? 0])).toEqual(['removed'])
      return go()
    })
    const client = createClient({ store: meddling.store })
    await expect(client.retry('a')).rejects.toMatchObject({ code: 'run-not-found' })
    await client.stop()
    await expect(engine.get('a').status()).rejects.toMatchObject({ code: 'run-not-found' })
    expect(state.calls).toEqual([])
  })

  test('a start again of a run that is deleted meanwhile starts a new one', async () => {
    const { store, engine, failing, state, fail } = await setUp()
    await fail('a')
    for (const method of ['runs.find', 'log.load', 'runs.restart'] as const) {
      const meddling = meddleWith(store)
      meddling.next(method, async (go) => {
        await engine.delete('a')
        return go()
      })
      const client = createClient({ store: meddling.store })
      const run = await client.runOrGet(failing, undefined, { id: 'a', ifEnded: 'again' })
      expect(await run.result()).toBe('paid')
      expect((await run.status()).generation).toBe(1)
      await client.stop()
    }
    expect(state.calls).toHaveLength(3)
  })

  test('a start of a run that is deleted meanwhile starts a new one', async () => {
    const { store, engine, failing, fail } = await setUp()
    for (const method of ['runs.find', 'log.load'] as const) {
      await fail(method)
      const meddling = meddleWith(store)
      meddling.next(method, async (go) => {
        await engine.delete(method)
        return go()
      })
      const client = createClient({ store: meddling.store })
      expect(await (await client.run(failing, undefined, { id: method })).result()).toBe('paid')
      await client.stop()
    }
  })

  test('reads of a run that is deleted meanwhile find no run', async () => {
    const { store, engine, fail } = await setUp()
    const reads = {
      result: (client: Pick<Engine, 'get'>) => client.get('a').result(),
      status: (client: Pick<Engine, 'get'>) => client.get('a').status(),
      log: (client: Pick<Engine, 'log'>) => client.log('a'),
    }
    for (const read of Object.values(reads)) {
      await fail('a')
      const meddling = meddleWith(store)
      meddling.next('log.load', async (go) => {
        await engine.delete('a')
        return go()
      })
      const client = createClient({ store: meddling.store })
      await expect(read(client)).rejects.toMatchObject({ code: 'run-not-found' })
      await client.stop()
    }
  })

  test('a deleted run has no result, also where it has just completed', async () => {
    const { engine, failing, state } = await setUp()
    state.isBroken = false
    const run = await engine.run(failing, undefined, { id: 'a' })
    expect(await run.result()).toBe('paid')
    await engine.delete('a')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-not-found' })
  })

  test(`of a retry and a deletion at once one counts, in ${rounds} interleavings`, async () => {
    const { store, engine, failing, state, fail } = await setUp()
    const port = connectTo(store) as WholeStore
    await port.open()
    onTestFinished(() => port.close())
    const other = createClient({ store })
    const ends: string[] = []
    for (let round = 0; round < rounds; round++) {
      const id = `run ${round}`
      await fail(id)
      const again = () => engine.runOrGet(failing, undefined, { id, ifEnded: 'again' })
      const revive = round % 4 === 3 ? again : () => engine.retry(id)
      const remove = async () => {
        // A few turns of the event loop later, each time others.
        for (let turn = 0; turn < round % 13; turn++) await new Promise(setImmediate)
        if (round % 2 === 0) return other.delete(id)
        // As retention does it.
        const row = await port.runs.find(id)
        const [removed] = row === null ? [] : await port.removals.remove([row.run])
        while (await port.removals.clear(100)) {}
        if (removed === 'live') throw Object.assign(new Error('live'), { code: 'run-live' })
        return
      }
      const [revived, removed] = await Promise.all([settle(revive()), settle(remove())])
      ends.push(`${revived} ${removed}`)
      expect(['done', 'run-not-found']).toContain(revived)
      expect(['done', 'run-live']).toContain(removed)
      if (revived === 'run-not-found') expect([removed, state.calls]).toEqual(['done', []])
      else if (removed === 'run-live') expect(await engine.get(id).result()).toBe('paid')
      // It was deleted once it had ended again, or a new run was started: no later round may see its steps.
      else expect(['done', 'run-not-found']).toContain(await settle(engine.get(id).result()))
    }
    await other.stop()
    while (await port.removals.clear(1_000)) {}
    // No row of a deleted run is left, or came to life.
    const query = {
      procedure: null,
      statuses: [],
      tag: null,
      parent: null,
      failedUndo: false,
      before: null,
      limit: 1_000,
    } as const
    expect((await port.runs.list(query)).filter(({ id }) => !id.startsWith('run '))).toEqual([])
    expect(ends).toHaveLength(rounds)
  })
})
