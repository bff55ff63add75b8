import {
  type Checkpoints,
  type Client,
  createClient,
  createEngine,
  type EngineOptions,
  type Inbox,
  PawlError,
  procedure,
  type RunHandle,
  type Store,
} from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, onTestFinished, test } from 'vitest'

const child = procedure({ name: 'child', signals: {} }, (ctx) => ctx.sleep('1d'))

type Facade = Readonly<Record<string, unknown>>

/** What a turn may call: these reach no store. */
const harmless = ['client.get', 'engine.get', 'engine.humans']

// One entry for each verb of the contract: a verb that is missing here does not compile.
const clientVerbs: Record<Exclude<keyof Client, 'inbox' | 'checkpoints'>, true> = {
  ...{
    run: true,
    runOrGet: true,
    get: true,
    list: true,
    log: true,
    retry: true,
    previewRetry: true,
    previewFork: true,
    cancel: true,
    delete: true,
    fork: true,
    export: true,
    exportStream: true,
    import: true,
    resume: true,
    stop: true,
  },
}
const inboxVerbs: Record<keyof Inbox, true> = {
  list: true,
  count: true,
  get: true,
  next: true,
  notices: true,
  readNotices: true,
  watch: true,
  answer: true,
}
const checkpointVerbs: Record<keyof Checkpoints, true> = {
  ...{ create: true, load: true, latest: true, list: true, listAll: true, delete: true, cleanup: true },
}
const handleVerbs: Record<Exclude<keyof RunHandle<unknown>, 'id'>, true> = {
  ...{ result: true, status: true, cancel: true, signal: true, state: true, update: true },
}

/** The names of all verbs a client has: those of the contract, and what else is there. */
function verbsOf(of: string, client: Client): readonly (readonly [call: string, verb: () => unknown])[] {
  const facades: readonly (readonly [of: string, facade: object, contract: object])[] = [
    [of, client, clientVerbs],
    [`${of}.inbox`, client.inbox, inboxVerbs],
    [`${of}.checkpoints`, client.checkpoints, checkpointVerbs],
    ['run', client.get(child, 'a'), handleVerbs],
    ['run', client.get('a'), handleVerbs],
  ]
  return facades.flatMap(([name, facade, contract]) => {
    const verbs = { ...facade } as Facade
    const names = new Set([...Object.keys(verbs), ...Object.keys(contract)])
    return [...names]
      .filter((key) => typeof verbs[key] === 'function' || key in contract)
      .map((key) => [`${name}.${key}`, verbs[key] as () => unknown] as const)
  })
}

/** What comes of a call: refused in the call itself, or not. */
function outcomeOf(call: () => unknown): unknown {
  try {
    const result = call()
    if (result instanceof Promise) result.catch(() => {})
  } catch (error) {
    if (PawlError.is(error, 'nondeterministic-call')) return error.details
  }
  return 'it was not refused'
}

/** Calls every verb in the procedure, outside steps. Returns what came of each. */
async function callAll(
  client: { readonly of: string; readonly verbs: () => Client },
  start: (options: Pick<EngineOptions, 'procedures'>) => Promise<Client>,
): Promise<unknown> {
  const probe = procedure({ name: 'probe' }, async () =>
    verbsOf(client.of, client.verbs()).map(([call, verb]) => [call, outcomeOf(verb)] as const),
  )
  const engine = await start({ procedures: [probe, child] })
  onTestFinished(() => engine.stop())
  return (await engine.run(probe)).result()
}

/** The calls that `ctx` has ways of its own for. */
const ofCtx: ReadonlyMap<string, string> = new Map([
  ['run', 'ctx.call() or ctx.spawn()'],
  ['runOrGet', 'ctx.spawn()'],
  ['cancel', 'ctx.get(procedure, id).cancel()'],
  ['run.cancel', 'ctx.get(procedure, id).cancel()'],
  ['run.result', 'ctx.get(procedure, id).result()'],
  ['run.signal', 'ctx.get(procedure, id).signal()'],
])

function expectedOf(of: string, client: Client): unknown {
  return verbsOf(of, client).map(([name]) => {
    if (harmless.includes(name)) return [name, 'it was not refused']
    const call = `${name}()`
    const own = ofCtx.get(name.replace(/^(engine|client)\./, ''))
    const inStep = `${own === undefined ? '' : `${own}, or `}${call} in the body of ctx.step()`
    return [name, { call, use: name.endsWith('.stop') ? `${call} outside procedures` : inStep }]
  })
}

describe('in a procedure, outside steps,', () => {
  test.each(['virtual', 'error'] as const)(
    'every verb of an engine is refused, if %s',
    async (determinism) => {
      let engine: Client | undefined
      const outcomes = await callAll({ of: 'engine', verbs: () => engine as Client }, async (options) => {
        engine = await createEngine({ ...options, store: memory(), determinism })
        return engine
      })
      expect(outcomes).toEqual(expectedOf('engine', engine as Client))
    },
  )

  test('every verb of a test engine is refused in a procedure, outside steps', async () => {
    let engine: Client | undefined
    const outcomes = await callAll({ of: 'engine', verbs: () => engine as Client }, async (options) => {
      engine = await testEngine(options)
      return engine
    })
    expect(outcomes).toEqual(expectedOf('engine', engine as Client))
  })

  test('every verb of a client is refused in a procedure, outside steps', async () => {
    const store: Store = memory()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const outcomes = await callAll({ of: 'client', verbs: () => client }, (options) =>
      createEngine({ ...options, store }),
    )
    expect(outcomes).toEqual(expectedOf('client', client))
  })

  test('a refused verb starts no run, at any replay', async () => {
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      await ctx.step('a', () => 1)
      try {
        void engine.run(child)
      } catch (error) {
        return (error as Error).message
      }
      return 'it was not refused'
    })
    await using engine = await testEngine({ procedures: [parent, child], replay: 'always' })
    const run = await engine.run(parent, undefined, { id: 'parent:1' })
    expect(await run.result()).toBe(
      'engine.run() was called in a turn of run parent:1, outside a step. Every replay would call it again, and its result is not recorded. The call was blocked. Use ctx.call() or ctx.spawn(), or engine.run() in the body of ctx.step() instead.',
    )
    expect((await engine.list({ procedure: 'child' })).items).toEqual([])
  })
})

describe('verbs are not refused', () => {
  test('verbs are allowed in the body of a step, also after its first await', async () => {
    const parent = procedure({ name: 'parent' }, async (ctx) =>
      ctx.step('start', async ({ idempotencyKey }) => {
        await engine.run(child, undefined, { id: idempotencyKey })
        return (await engine.get(idempotencyKey).status()).procedure
      }),
    )
    await using engine = await testEngine({ procedures: [parent, child] })
    expect(await (await engine.run(parent)).result()).toBe('child')
  })

  test("verbs are allowed in a run with determinism 'off'", async () => {
    const parent = procedure({ name: 'parent' }, async () => {
      void engine.run(child, undefined, { id: 'started' })
    })
    await using engine = await testEngine({ procedures: [parent, child], determinism: 'off' })
    await (await engine.run(parent)).result()
    expect((await engine.get('started').status()).procedure).toBe('child')
  })
})
