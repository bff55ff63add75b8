import {
  createClient,
  createEngine,
  type Engine,
  type Logger,
  PawlError,
  type Procedure,
  procedure,
  type Store,
} from '@pawl/core'
import { encodePayload } from '@pawl/core/internal'
import { connectTo, type StorePort } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { meddleWith } from '../support/meddling-store.ts'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

const child = procedure({ name: 'child' }, (ctx) => ctx.step('work', () => 42))
const parent = procedure({ name: 'parent' }, (ctx) =>
  ctx.call(child, undefined, { id: 'child' }).catch(codeOf),
)
const watching = procedure({ name: 'watching' }, (ctx) => ctx.get(child, 'child').result().catch(codeOf))

function codeOf(error: unknown): unknown {
  return PawlError.is(error, 'run-failed') ? error.details.cause.code : String(error)
}

function codeOfEnd(error: unknown): unknown {
  return PawlError.is(error) ? error.code : String(error)
}

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

describe('parents of children that are quarantined or deleted', () => {
  const makePlace = makePlaces()
  async function setUp(): Promise<{
    readonly store: Store
    readonly port: StorePort
    readonly start: (...procedures: readonly AnyProcedure[]) => Promise<Engine>
  }> {
    const { store, remove } = await makePlace()
    const port = connectTo(store) as StorePort
    await port.open()
    const engines: Engine[] = []
    onTestFinished(async () => {
      for (const engine of engines) await engine.stop()
      await port.close()
      await remove()
    })
    const start = async (...procedures: readonly AnyProcedure[]): Promise<Engine> => {
      const engine = await createEngine({ store, procedures, logger: silent })
      engines.push(engine)
      return engine
    }
    return { store, port, start }
  }

  /** A parent that waits, and its child, which a worker has given up. */
  async function quarantined() {
    const { store, port, start } = await setUp()
    const engine = await start(parent, watching)
    const run = await engine.run(parent)
    await until(async () => (await port.runs.find('child')) !== null)
    const watcher = await engine.run(watching)
    await until(async () => (await port.runs.find('child'))?.mail === 1)
    const procedures = [{ name: 'child', versions: [1] }]
    const worker = await port.workers.register({ name: 'w', leaseMs: 60_000, procedures })
    const [claimed] = (await port.claims.claim({ worker, procedures }, 1)).runs
    if (claimed === undefined) throw new Error('no run is due')
    const reason = encodePayload({ name: 'Error', message: 'three workers died over it' }, 'reason')
    await port.runs.mark(worker, claimed.run, claimed.epoch, 'quarantined', reason, 'crashes')
    const meddling = meddleWith(store)
    const client = createClient({ store: meddling.store })
    onTestFinished(() => client.stop())
    const results = () => Promise.all([run.result(), watcher.result()])
    return { port, start, engine, run, results, client, meddling, key: claimed.run }
  }

  test('the runs that wait for a quarantined run hear of its removal', async () => {
    const { results, client, port } = await quarantined()
    await client.delete('child')
    expect(await results()).toEqual(['run-quarantined', 'run-quarantined'])
    expect(await port.runs.find('child')).toBeNull()
  })

  test('a quarantined run that is retried while it is deleted continues, and the runs that wait hear only its end', async () => {
    const { results, client, port, start, meddling, key } = await quarantined()
    const retry = async (go: () => Promise<unknown>) => {
      await port.runs.retry(key, 'quarantined')
      return go()
    }
    // Between what the deletion has read and all that it writes.
    for (const method of ['removals.remove', 'removals.removeQuarantined'] as const)
      meddling.next(method, retry)
    await expect(client.delete('child')).rejects.toMatchObject({ code: 'run-live' })
    await start(child)
    expect(await results()).toEqual([42, 42])
  })

  test('a quarantined child whose parent has ended is cancelled once it is released', async () => {
    const { run, start, client } = await quarantined()
    await run.cancel('enough')
    await run.result()
    await client.retry('child')
    await start(child)
    expect(await client.get('child').result().catch(codeOfEnd)).toBe('run-cancelled')
    expect((await client.get('child').status()).cancelReason).toContain('no longer waits for it')
  })

  test('a run that begins to wait for a quarantined run while it is deleted hears of the removal', async () => {
    const { results, client, port, engine, meddling } = await quarantined()
    let waiting: Promise<unknown> = Promise.resolve()
    const wait = async (go: () => Promise<unknown>) => {
      const { mail = 0 } = (await port.runs.find('child')) ?? {}
      waiting = (await engine.run(watching)).result()
      await until(async () => ((await port.runs.find('child'))?.mail ?? 0) > mail)
      return go()
    }
    for (const method of ['removals.remove', 'removals.removeQuarantined'] as const)
      meddling.next(method, wait)
    await client.delete('child')
    expect(await waiting).toBe('run-quarantined')
    expect(await results()).toEqual(['run-quarantined', 'run-quarantined'])
  })
})

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 10))
}
