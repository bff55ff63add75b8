import { createClient, procedure, ref } from '@pawl/core'
import { encodePayload } from '@pawl/core/internal'
import { connectTo, type ProcedureVersions, type StorePort } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'
import { meddleWith } from '../support/meddling-store.ts'
import { keepLines } from './support.ts'

const known = procedure({ name: 'known' }, (ctx) => ctx.step('work', () => 'done'))
const nap = procedure({ name: 'nap' }, async (ctx) => {
  await ctx.step('first', () => 1)
  await ctx.sleep('1m')
  return 'woke up'
})
const worker = (name: string, position = 0) => ({
  ...{ kind: 'worker', name, position, ask: undefined, until: undefined },
})

/** A client of a store, and workers that can execute what they say and execute nothing. */
async function prepare() {
  const inner = memory()
  const meddling = meddleWith(inner)
  let asked = 0
  meddling.always('workers.abilities', (go) => {
    asked++
    return go()
  })
  const client = createClient({ store: meddling.store })
  const port = connectTo(inner) as StorePort
  await port.open()
  onTestFinished(async () => {
    await client.stop()
    await port.close()
  })
  return {
    ...{ store: inner, client, port, asked: () => asked },
    register: (procedures?: readonly ProcedureVersions[], leaseMs = 60_000) =>
      port.workers.register({ name: 'w', leaseMs, ...(procedures === undefined ? {} : { procedures }) }),
  }
}

describe('a due run that no live engine can execute waits for a worker', () => {
  test('a due run waits for a worker while none lives, until one has its procedure and version', async () => {
    const { client, register } = await prepare()
    const run = await client.run(
      procedure({ name: 'known', version: 2 }, async () => {}),
      undefined,
      { id: 'a' },
    )
    const expected = { status: 'running', waitingFor: [worker('known')] }
    expect(await run.status()).toMatchObject(expected)
    await register([
      { name: 'known', versions: [1] },
      { name: 'other', versions: [2] },
    ])
    expect(await run.status()).toMatchObject(expected)
    expect((await client.list()).items).toMatchObject([{ id: 'a', ...expected }])
    await register([{ name: 'known', versions: [1, 2] }], -1_000)
    expect(await run.status()).toMatchObject(expected)
    await register([{ name: 'known', versions: [1, 2] }])
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
  })

  test('a due run that no worker claims for a minute waits for a worker, although one has its code', async () => {
    let now = Date.parse('2026-01-01T00:00:00Z')
    const store = memory({ now: () => now })
    const client = createClient({ store })
    const port = connectTo(store) as StorePort
    await port.open()
    onTestFinished(async () => {
      await client.stop()
      await port.close()
    })
    const run = await client.run(known)
    await port.workers.register({
      name: 'w',
      leaseMs: 600_000,
      procedures: [{ name: 'known', versions: [1] }],
    })
    now += 59_999
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
    now += 1
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [worker('known')] })
  })

  test('a due run without a version waits for a worker with any version of its procedure', async () => {
    const { client, register } = await prepare()
    const run = await client.run(ref<typeof known>('known'))
    expect(await run.status()).toMatchObject({ version: 0, waitingFor: [worker('known')] })
    await register([{ name: 'known', versions: [7] }])
    expect(await run.status()).toMatchObject({ waitingFor: [] })
  })

  test('a due run waits for a worker at the position after its last operation', async () => {
    const store = memory()
    const engine = await testEngine({ store, procedures: [nap] })
    await engine.run(nap, undefined, { id: 'a' })
    while ((await engine.get('a').status()).status !== 'waiting')
      await new Promise((done) => setImmediate(done))
    await engine.stop()
    await using later = await testEngine({ store, procedures: [known], logger: keepLines().logger })
    await later.advance('2m')
    expect(await later.get('a').status()).toMatchObject({ status: 'running', waitingFor: [worker('nap', 2)] })
  })

  test('a stuck run that is retried waits for a worker', async () => {
    const { client, port, register } = await prepare()
    await client.run(known, undefined, { id: 'a' })
    const procedures = [{ name: 'known', versions: [1] }]
    const key = await register(procedures)
    const [claimed] = (await port.claims.claim({ worker: key, procedures }, 1)).runs
    await port.runs.mark(key, claimed?.run ?? 0, claimed?.epoch ?? 0, 'stuck', encodePayload({}, 'reason'))
    await port.workers.release(key)
    const status = async () => (await client.list()).items.map(({ waitingFor }) => waitingFor)
    expect(await status()).toEqual([[]])
    await client.retry('a')
    expect(await status()).toEqual([[worker('known')]])
  })

  test('a due run waits for no worker while an engine of an earlier version lives', async () => {
    const { client, register } = await prepare()
    const run = await client.run(known)
    await register()
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
  })

  test('a client reads the live engines only for such a run', async () => {
    const { client, port, register, asked } = await prepare()
    const run = await client.run(known)
    const key = await register([{ name: 'known', versions: [1] }])
    await port.claims.claim({ worker: key, procedures: [{ name: 'known', versions: [1] }] }, 1)
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
    await client.list()
    expect(asked()).toBe(0)
    await port.workers.release(key)
    await run.status()
    await client.list()
    expect(asked()).toBe(2)
  })
})

describe('an engine names the runs that no live engine can execute', () => {
  test('an engine logs runs that no live engine can execute, by procedure and version, once a minute', async () => {
    const { store, client } = await prepare()
    const { logger, lines } = keepLines()
    await client.run(
      procedure({ name: 'known', version: 2 }, async () => {}),
      undefined,
      { id: 'a' },
    )
    for (const id of ['b', 'c', 'd']) await client.run(ref<typeof known>('typo'), undefined, { id })
    await using engine = await testEngine({ store, procedures: [known], logger })
    await engine.advance('4s')
    expect(lines).toEqual([])
    await engine.advance('2s')
    const named = [
      {
        level: 'warn',
        message:
          'Run "a" is due, and no live engine has version 2 of procedure "known". Start an engine with it',
        fields: { run: 'a', procedure: 'known', version: 2, count: 1 },
      },
      {
        level: 'warn',
        message:
          'Run "b" and 2 others are due, and no live engine has procedure "typo". Start an engine with it',
        fields: { run: 'b', procedure: 'typo', version: null, count: 3 },
      },
    ]
    expect(lines).toEqual(named)
    await engine.advance('58s')
    expect(lines).toEqual(named)
    await engine.advance('2s')
    expect(lines).toEqual([...named, ...named])
  })

  test('an engine stops logging such runs once another engine has the procedure', async () => {
    const { store, client, register } = await prepare()
    const { logger, lines } = keepLines()
    await client.run(ref<typeof known>('other'), undefined, { id: 'a' })
    await using engine = await testEngine({ store, procedures: [known], logger })
    await register([{ name: 'other', versions: [1] }], 65_000)
    await engine.advance('6s')
    expect(lines).toEqual([])
    await engine.advance('1m')
    expect(lines).toMatchObject([{ fields: { run: 'a', procedure: 'other' } }])
    await register()
    await engine.advance('1m')
    expect(lines).toHaveLength(1)
  })
})
