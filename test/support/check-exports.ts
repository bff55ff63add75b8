import {
  type Client,
  createClient,
  createEngine,
  type Engine,
  FinalError,
  procedure,
  type Store,
} from '@pawl/core'
import fc from 'fast-check'
import { expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { seed } from './seed.ts'
import type { StorePlace } from './store-place.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** What a drawn program does, one after the other. 'receive' waits for a signal, 'ask' for an answer. */
const ops = [
  'step',
  'large',
  'fail',
  'uuid',
  'receive',
  'ask',
  'expose',
  'beside',
  'save',
  'continue',
] as const

const drawn = procedure(
  {
    name: 'drawn',
    input: z.object({ ops: z.array(z.enum(ops)), seen: z.array(z.unknown()), isFirst: z.boolean() }),
    signals: { go: z.number() },
    state: { place: z.number() },
  },
  async (ctx, { ops: all, seen: before, isFirst }): Promise<unknown> => {
    const seen = [...before]
    for (const [index, op] of all.entries()) {
      const later = all.slice(index + 1)
      switch (op) {
        case 'step':
          seen.push(await ctx.step(`step ${index}`, () => index))
          break
        case 'large':
          seen.push((await ctx.step('large', () => 'x'.repeat(40_000))).length)
          break
        case 'fail':
          seen.push(await ctx.step('fail', failing, { retry: false }).catch((error) => error.code))
          break
        case 'uuid':
          // A generation that begins after the export draws its own seed.
          seen.push(isFirst ? ctx.uuid() : ctx.uuid().length)
          break
        case 'receive':
          seen.push(await ctx.receive('go'))
          break
        case 'ask':
          seen.push((await ctx.human.approve(`Go on at ${index}?`, { to: 'role:ops' })).approved)
          break
        case 'expose':
          ctx.expose('place', seen.length)
          break
        case 'beside':
          void ctx.human.approve('Beside?', { key: `beside ${index}` }).catch(() => {})
          break
        case 'save':
          await ctx.checkpoint(`save ${index}`, { seen: seen.length })
          break
        case 'continue':
          return ctx.continueAs({ ops: later, seen, isFirst: false })
      }
    }
    if (seen.length % 3 === 2) throw new FinalError(`with ${seen.length}`)
    return seen
  },
)
const failing = (): never => {
  throw new FinalError('no luck')
}

/** What a run does that is answered and then forked with the other answer. */
const forkedOps: readonly (typeof ops)[number][] = ['step', 'save', 'ask', 'uuid', 'receive', 'uuid', 'ask']

const programs = fc.array(fc.constantFrom(...ops), { minLength: 1, maxLength: 12 })

/** Imported runs are the exported ones: the same bytes again, and the same end. `count` programs are drawn. */
export async function checkExports(
  from: StorePlace,
  to: readonly StorePlace[],
  count: number,
): Promise<void> {
  onTestFinished(async () => {
    for (const place of [from, ...to]) await place.remove()
  })
  const drawnPrograms = fc.sample(programs, { seed, numRuns: count })
  const files = new Map<string, Uint8Array>()
  const saved = new Map<string, unknown>()
  const engine = await start(from.store)
  for (const [index, all] of drawnPrograms.entries()) {
    const id = `run ${index} of seed ${seed}`
    const run = await engine.run(
      drawn,
      { ops: all, seen: [], isFirst: true },
      { id, tags: ['drawn'], by: 'user:ana' },
    )
    for (let n = 0; n < index % 4; n++) await run.signal('go', n, { id: `go ${n}` }).catch(() => {})
  }
  const ids = drawnPrograms.map((_, index) => `run ${index} of seed ${seed}`)
  const forked = await makeFork(engine)
  for (const [index, id] of [...ids, forked.original, forked.id].entries()) {
    await settle(engine, id)
    await changeCheckpoints(engine, id, index)
    files.set(id, await engine.export(id))
    saved.set(id, await checkpointsOf(engine, id))
  }
  for (const { store } of to) {
    const client = createClient({ store })
    for (const [id, file] of files) {
      await client.import(inPieces(file))
      expect(await client.export(id), id).toEqual(file)
      expect(await checkpointsOf(client, id), id).toEqual(saved.get(id))
    }
    await expectFork(client, forked)
    await client.stop()
  }
  const expected = await playToTheEnd(engine, files.keys())
  await engine.stop()
  for (const { store } of to) {
    const other = await start(store)
    const checks = await other.check({ exports: [...files.values()] })
    expect(new Set(checks.map(({ verdict }) => verdict))).toEqual(new Set(['same']))
    expect(await playToTheEnd(other, files.keys())).toEqual(expected)
    await other.stop()
  }
}

interface Fork {
  readonly id: string
  readonly original: string
  /** The position of the edited answer. */
  readonly position: number
}

/** Makes a run with an answered ask, and a fork of it with the other answer. */
async function makeFork(engine: Engine): Promise<Fork> {
  const original = `original of seed ${seed}`
  await engine.run(drawn, { ops: [...forkedOps], seen: [], isFirst: true }, { id: original })
  const { id: ask, position } = await engine.inbox.next({ run: original })
  await engine.inbox.answer(ask, { approved: true }, { as: 'user:ana' })
  await expect.poll(() => waitsForSignal(engine, original), { interval: 2 }).toBe(true)
  const fork = { id: `fork of seed ${seed}`, original, position }
  await forkWith(engine, fork, false)
  return fork
}

function forkWith(client: Client, { id, original, position }: Fork, approved: boolean): Promise<unknown> {
  return client.fork(original, { position: position + 1 }, { id, edit: { [position]: { approved } } })
}

/** The first event of a fork says what it was made of: the same call finds it, and another one is refused. */
async function expectFork(client: Client, fork: Fork): Promise<void> {
  const { original: run, position } = fork
  expect((await client.get(fork.id).status()).forkedFrom).toEqual({ run, position: position + 1 })
  await forkWith(client, fork, false)
  await expect(forkWith(client, fork, true)).rejects.toMatchObject({ code: 'id-taken' })
}

async function waitsForSignal(client: Client, id: string): Promise<boolean> {
  return (await client.get(id).status()).waitingFor.some(({ kind }) => kind === 'signal')
}

function start(store: Store): Promise<Engine> {
  return createEngine({ store, procedures: [drawn], logger: silent })
}

async function* inPieces(file: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < file.length; at += 1_013) yield file.subarray(at, at + 1_013)
}

/** Waits until the run has ended, or waits for people or signals. */
async function settle(client: Client, id: string): Promise<void> {
  await expect.poll(async () => (await client.get(id).status()).status, { interval: 2 }).not.toBe('running')
}

/** Adds a checkpoint that no event records, and deletes one that an event does. */
async function changeCheckpoints(client: Client, id: string, index: number): Promise<void> {
  if (index % 2 === 0) await client.checkpoints.create(id, { index }).catch(() => null)
  const [last] = (await client.checkpoints.list(id)).slice(index % 3)
  if (last !== undefined && index % 4 > 0) await client.checkpoints.delete(last.id)
}

/** Without their ids, which are those of a store. */
async function checkpointsOf(client: Client, id: string): Promise<unknown> {
  return (await client.checkpoints.list(id)).map(({ id: _, ...checkpoint }) => checkpoint)
}

/** Sends and answers all that the runs wait for. Returns how they ended. */
async function playToTheEnd(client: Client, ids: Iterable<string>): Promise<readonly unknown[]> {
  return Promise.all([...ids].map((id) => playOne(client, id)))
}

async function playOne(client: Client, id: string): Promise<unknown> {
  const run = client.get(drawn, id)
  const ended = run.result().then(
    (output) => ({ output }),
    ({ code, details }) => ({ code, cause: details.cause?.message }),
  )
  for (let n = 10; ; n++) {
    await settle(client, id)
    if ((await run.status()).status !== 'waiting') return ended
    const asks = await client.inbox.list({ run: id, limit: 100 })
    if (await waitsForSignal(client, id)) await run.signal('go', n).catch(() => {})
    for (const ask of asks.items)
      await client.inbox
        .answer(ask.id, { approved: ask.position % 2 === 0 }, { as: 'user:bob' })
        .catch(() => {})
  }
}
