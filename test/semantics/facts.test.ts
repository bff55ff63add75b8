import {
  agent,
  type Client,
  FinalError,
  type Possibility,
  type Procedure,
  procedure,
  type RunVerb,
} from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const model = agent(
  { name: 'model', input: z.number(), output: z.string() },
  async (attempts, { usage, attempt }) => {
    usage({ model: 'small', inputTokens: 10, outputTokens: 2, costUsd: 0.5 })
    if (attempt < attempts) throw new Error('overloaded')
    return 'text'
  },
)

test('facts count what belongs to a run, and add up what its agents have used', async () => {
  const leaf = procedure({ name: 'leaf' }, (ctx) => ctx.sleep('1h'))
  const broken = procedure({ name: 'broken', bugs: 'fail' }, async () => {
    throw new Error('no')
  })
  const family = procedure({ name: 'family' }, async (ctx) => {
    await ctx.agent(model, 2)
    await ctx.agent(model, 1)
    await ctx.spawn(leaf)
    await ctx.spawn(broken)
    await ctx.human.approve('Go on?')
  })
  await using engine = await testEngine({ procedures: [family, leaf, broken] })
  const run = await engine.run(family, undefined, { id: 'family:1' })
  await engine.inbox.next({ run: run.id })
  for (const { id } of (await engine.list({ procedure: 'broken' })).items)
    await expect(engine.get(id).result()).rejects.toThrow('no')
  const { facts } = await run.status({ facts: true })
  expect(facts).toMatchObject({
    owner: undefined,
    entries: 5,
    openAsks: { count: 1, capped: false },
    children: { byStatus: { waiting: 1, failed: 1, completed: 0 }, capped: false },
    usage: { calls: 2, inputTokens: 30, outputTokens: 6, costUsd: 1.5, capped: false },
  })
  expect(await run.status()).not.toHaveProperty('facts')
  expect((await engine.list()).items[0]).not.toHaveProperty('facts')
})

test('facts name the worker that has the run in memory', async () => {
  let release = (): void => {}
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const busy = procedure({ name: 'busy' }, (ctx) =>
    ctx.step('hold', async () => {
      begin()
      await new Promise<void>((resolve) => {
        release = resolve
      })
    }),
  )
  await using engine = await testEngine({ procedures: [busy] })
  const run = await engine.run(busy)
  await begun
  const { facts } = await run.status({ facts: true })
  expect(facts?.owner).toEqual({
    worker: expect.any(String),
    seenAt: expect.any(Date),
    leaseEndsAt: expect.any(Date),
  })
  release()
  await run.result()
  expect((await run.status({ facts: true })).facts?.owner).toBeUndefined()
})

const waits = procedure({ name: 'waits', signals: { go: z.void() } }, (ctx) => ctx.receive('go'))
const fails = procedure({ name: 'fails' }, (ctx) =>
  ctx.step(
    'pay',
    () => {
      throw new Error('declined')
    },
    { retry: { attempts: 1 } },
  ),
)
const undoes = procedure({ name: 'undoes', rollback: {} }, async (ctx) => {
  await ctx.step('book', () => 1, { undo: () => {} })
  throw new FinalError('full')
})
const passes = procedure({ name: 'passes' }, async () => 'done')
const spawns = procedure({ name: 'spawns' }, async (ctx) => {
  await ctx.spawn(passes)
  await ctx.sleep('1h')
})

const acts: { readonly [V in RunVerb]: (client: Client, run: string) => Promise<unknown> } = {
  retry: (client, run) => client.retry(run),
  cancel: (client, run) => client.cancel(run),
  signal: (client, run) => client.get(run).signal('go' as never),
  fork: (client, run) => client.fork(run, { position: 0 }),
  delete: (client, run) => client.delete(run),
}

test.each<
  readonly [name: string, Procedure<undefined, unknown>, status: string, possible: readonly RunVerb[]]
>([
  ['waits', waits, 'waiting', ['cancel', 'fork', 'signal']],
  ['fails', fails, 'failed', ['delete', 'fork', 'retry']],
  ['undoes', undoes, 'failed', ['delete', 'fork']],
  ['passes', passes, 'completed', ['delete', 'fork']],
])(
  'facts tell of a run that %s what can be done with it, and why not the rest',
  async (_, code, status, possible) => {
    const begin = async () => {
      const engine = await testEngine({ procedures: [code] })
      const run = await engine.run(code, undefined, { id: 'a' })
      await run.result({ timeout: '1m' }).catch(() => {})
      return { engine, run }
    }
    await using first = (await begin()).engine
    const { facts, ...view } = await first.get('a').status({ facts: true })
    expect(view.status).toBe(status)
    const can = Object.entries(facts?.can ?? {}) as [RunVerb, Possibility][]
    expect(can.flatMap(([verb, { ok }]) => (ok ? verb : [])).toSorted()).toEqual(possible)
    for (const [, one] of can) expect(one.ok || one.why).toBeTruthy()
    for (const verb of possible) {
      await using engine = (await begin()).engine
      await acts[verb](engine, 'a')
    }
  },
)

test('facts say that the result of a child may still be asked for', async () => {
  await using engine = await testEngine({ procedures: [spawns, passes] })
  const run = await engine.run(spawns, undefined, { id: 'a' })
  await run.result({ timeout: '1m' }).catch(() => {})
  const [child] = (await engine.list({ parent: 'a' })).items
  const { facts } = await engine.get(child?.id ?? '').status({ facts: true })
  expect(facts?.can.delete).toEqual({ ok: false, why: 'Its parent a is live and may ask for its result.' })
})
