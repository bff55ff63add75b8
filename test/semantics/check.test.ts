import {
  type Ctx,
  checkRuns,
  createClient,
  createEngine,
  PawlError,
  type Procedure,
  procedure,
} from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf } from './support.ts'

/** A procedure named `ship` with this body. */
function shipWith(body: (ctx: Ctx) => Promise<unknown>, version = 1): Procedure<undefined, unknown> {
  return procedure({ name: 'ship', version }, body)
}

const today = shipWith(async (ctx) => {
  const box = await ctx.step('pack', () => 'a box')
  await ctx.human.approve('Ship it?', { to: 'group:shop' })
  return ctx.step('ship', () => `${box}, shipped`)
})

/** A store with one run of `ship`, which waits for its approval. */
async function stored(first = today) {
  const store = memory()
  const engine = await testEngine({ store, procedures: [first] })
  await engine.run(first, undefined, { id: 'ship:1' })
  const ask = await engine.inbox.next()
  await engine.stop()
  const dump = async () => {
    const reader = await testEngine({ store, procedures: [] })
    const seen = [
      await reader.log('ship:1'),
      await reader.get('ship:1').status(),
      await reader.inbox.get(ask.id),
    ]
    await reader.stop()
    return seen
  }
  return { store, ask, dump }
}

test('check reports a run as same if the log matches, and writes nothing', async () => {
  const { store, dump } = await stored()
  const before = await dump()
  let calls = 0
  const tomorrow = shipWith(async (ctx) => {
    await ctx.step('pack', () => ++calls)
    ctx.log.warn('this line is logged by runs, not by a check')
    await ctx.human.approve('Ship it?', { to: 'group:shop' })
    await ctx.step('weigh', () => ++calls)
  })
  const lines: string[] = []
  const note = (line: string) => void lines.push(line)
  const logger = { debug: note, info: note, warn: note, error: note }
  expect(await checkRuns({ store, procedures: [tomorrow], logger })).toEqual([
    { run: 'ship:1', procedure: 'ship', version: 1, versions: {}, verdict: 'same' },
  ])
  expect(calls).toBe(0)
  expect(lines).toEqual([])
  expect(await dump()).toEqual(before)
})

test('check reports both sides and the place in the code of a run that would get stuck', async () => {
  const { store, dump } = await stored()
  const before = await dump()
  const renamed = shipWith(async (ctx) => {
    await ctx.step('wrap', () => 'a box')
    await ctx.human.approve('Ship it?')
  })
  const [check] = await checkRuns({ store, procedures: [renamed] })
  expect(check).toMatchObject({
    ...{ run: 'ship:1', verdict: 'diverges', position: 0 },
    ...{ recorded: 'step "pack" in turn 0', asked: 'step "wrap" in turn 0' },
    at: expect.stringContaining('check.test.ts:'),
  })
  expect(await dump()).toEqual(before)
})

test('check reports code that ends before its log does', async () => {
  const { store } = await stored()
  const short = shipWith(async () => 'nothing')
  const throwing = shipWith(async () => {
    throw new Error('out of paper')
  })
  expect(await checkRuns({ store, procedures: [short] })).toMatchObject([
    { verdict: 'diverges', recorded: 'step "pack" in turn 0', asked: 'its completion' },
  ])
  expect(await checkRuns({ store, procedures: [throwing] })).toMatchObject([
    { verdict: 'diverges', asked: 'its failure with Error: out of paper' },
  ])
})

test.for([
  ['another message', (ctx: Ctx) => ctx.human.approve('Ship this?'), 'text-only'],
  ['other params', (ctx: Ctx) => ctx.human.approve('Ship it?', { params: { box: 2 } }), 'text-only'],
  ['another risk', (ctx: Ctx) => ctx.human.approve('Ship it?', { risk: 'high' }), 'text-only'],
  ['another timeout', (ctx: Ctx) => ctx.human.approve('Ship it?', { timeout: '1d' }), 'same'],
  ['the same', (ctx: Ctx) => ctx.human.approve('Ship it?'), 'same'],
] as const)('check of an open ask with %s', async ([, ask, verdict]) => {
  const { store } = await stored()
  const changed = shipWith(async (ctx) => {
    await ctx.step('pack', () => 'a box')
    await ask(ctx)
  })
  expect(await checkRuns({ store, procedures: [changed] })).toMatchObject([{ verdict }])
})

test('check compares an input whose schema and default are pinned with the code', async () => {
  const asking = (most: number) =>
    shipWith((ctx) =>
      ctx.human.input('How many?', z.number().max(most), { timeout: '1d', onTimeout: { default: 1 } }),
    )
  const { store } = await stored(asking(5))
  expect(await checkRuns({ store, procedures: [asking(5)] })).toMatchObject([{ verdict: 'same' }])
  expect(await checkRuns({ store, procedures: [asking(6)] })).toMatchObject([{ verdict: 'text-only' }])
})

test('check reports a bug, a foreign await and an input that no longer matches', async () => {
  const store = memory()
  const old = procedure({ name: 'ship', input: z.number() }, async (ctx, n) => {
    await ctx.step('pack', () => n)
    await ctx.sleep('1d')
  })
  const engine = await testEngine({ store, procedures: [old] })
  await engine.run(old, 1, { id: 'ship:1' })
  await expect(engine.get('ship:1').result({ timeout: '1s' })).rejects.toMatchObject({
    code: 'wait-timed-out',
  })
  await engine.stop()
  const check = async (changed: Procedure<number, unknown> | Procedure<string, unknown>) =>
    (await checkRuns({ store, procedures: [changed] }))[0]

  const buggy = procedure({ name: 'ship', input: z.number() }, async (ctx, n) => {
    await ctx.step('pack', () => n)
    return (undefined as unknown as { readonly length: number }).length
  })
  expect(await check(buggy)).toMatchObject({
    ...{ verdict: 'broken', code: 'procedure-broken' },
    at: expect.stringContaining('check.test.ts:'),
  })

  const foreign = procedure({ name: 'ship', input: z.number() }, async (ctx, n) => {
    await ctx.step('pack', () => n)
    await new Promise(() => {})
  })
  expect(await check(foreign)).toMatchObject({ verdict: 'broken', code: 'foreign-await' })

  // The input was checked when the run began.
  const stricter = procedure({ name: 'ship', input: z.string() }, async (ctx) => {
    await ctx.step('pack', () => 1)
    await ctx.human.approve('Ship it?')
  })
  expect(await check(stricter)).toMatchObject({ verdict: 'same' })
})

test('check reports runs for which there is no code', async () => {
  const { store } = await stored()
  const other = procedure({ name: 'other' }, async () => {})
  expect(await checkRuns({ store, procedures: [shipWith(async () => {}, 2), other] })).toEqual([
    { run: 'ship:1', procedure: 'ship', version: 1, versions: {}, verdict: 'no-code' },
  ])
  expect(await checkRuns({ store, procedures: [shipWith(async () => {}, 2), today] })).toMatchObject([
    { verdict: 'same' },
  ])
})

test('check sees the virtual clock and chance of the run', async () => {
  const dice = shipWith(async (ctx) => {
    const name = `${Date.now()} ${Math.random()} ${ctx.uuid()}`
    await ctx.step(name, () => 0)
    await ctx.human.approve('Go on?')
  })
  const { store } = await stored(dice)
  expect(await checkRuns({ store, procedures: [dice] })).toMatchObject([{ verdict: 'same' }])
})

test('check of an engine selects runs, and leaves ended and quarantined ones out', async () => {
  await using engine = await testEngine({ procedures: [today] })
  for (const id of ['ship:1', 'ship:2', 'ship:3'])
    await engine.run(today, undefined, { id, tags: id === 'ship:2' ? ['blue'] : [] })
  for (const id of ['ship:1', 'ship:2', 'ship:3']) await engine.inbox.next({ run: id })
  const ask = await engine.inbox.next({ run: 'ship:3' })
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  await engine.get('ship:3').result()

  const ids = async (what?: Parameters<typeof engine.check>[0]) =>
    (await engine.check(what)).map(({ run, verdict }) => `${run} ${verdict}`)
  expect(await ids()).toEqual(['ship:2 same', 'ship:1 same'])
  expect(await ids({ tag: 'blue' })).toEqual(['ship:2 same'])
  expect(await ids({ limit: 1 })).toEqual(['ship:2 same'])
  expect(await ids({ run: 'ship:3' })).toEqual(['ship:3 same'])
  expect(await ids({ status: 'completed' })).toEqual(['ship:3 same'])
  expect(await ids({ procedure: 'other' })).toEqual([])
  await expect(engine.check({ run: 'ship:4' })).rejects.toMatchObject({ code: 'run-not-found' })
  await expect(engine.check({ run: 'ship:1', tag: 'blue' } as never)).rejects.toMatchObject({
    code: 'option-invalid',
  })
})

test('check of an engine that was stopped is refused', async () => {
  const engine = await createEngine({ store: memory(), procedures: [today] })
  expect(await engine.check()).toEqual([])
  await engine.stop()
  const error = await engine.check().catch((thrown: unknown) => thrown)
  expect(PawlError.is(error, 'engine-stopped')).toBe(true)
})

test('check reads logs of several pages', async () => {
  const looping = (name: string) =>
    shipWith(async (ctx) => {
      for (let i = 0; i < 2_100; i++) await ctx.step(i < 2_090 ? 'work' : name, () => i)
      await ctx.human.approve('Go on?')
    })
  const { store } = await stored(looping('work'))
  expect(await checkRuns({ store, procedures: [looping('work')] })).toMatchObject([{ verdict: 'same' }])
  expect(await checkRuns({ store, procedures: [looping('rest')] })).toMatchObject([
    { verdict: 'diverges', position: 2_090 },
  ])
})

test('check reports a completed run whose code would return something else', async () => {
  const store = memory()
  const first = shipWith(async (ctx) => ctx.step('pack', () => ({ box: 1, note: undefined })))
  await using engine = await testEngine({ store, procedures: [first] })
  const run = await engine.run(first, undefined, { id: 'ship:1' })
  await run.result()
  expect(await engine.check({ run: run.id })).toMatchObject([{ verdict: 'same' }])
  const other = shipWith(async (ctx) => ({ ...(await ctx.step('pack', () => ({}))), box: 2 }))
  expect(await checkRuns({ store, procedures: [other] }, { run: run.id })).toMatchObject([
    {
      verdict: 'diverges',
      recorded: 'its completion with {"box":1}',
      asked: 'its completion with {"box":2}',
    },
  ])
})

describe('check of a run that was cancelled', () => {
  const keep = { logger: keepLines().logger }

  test('reports no difference if the run ended before its first turn', async () => {
    const store = memory()
    const client = createClient({ store })
    const stubborn = procedure({ name: 'stubborn' }, async (ctx) => {
      await ctx.sleep('1d').catch(() => {})
    })
    const undoing = procedure({ name: 'undoing' }, async (ctx) => {
      ctx.onRollback('hold', () => {})
      await ctx.step('work', () => 1)
    })
    for (const one of [stubborn, undoing]) await (await client.run(one, undefined, { id: one.name })).cancel()
    await client.stop()
    await using engine = await testEngine({ procedures: [stubborn, undoing], store, ...keep })
    for (const { name } of [stubborn, undoing]) await refusalOf(engine.get(name).result())
    for (const { name } of [stubborn, undoing])
      expect(await engine.check({ run: name })).toMatchObject([{ verdict: 'same' }])
  })

  test('reports no difference if the run was cancelled as it returned continueAs', async () => {
    const working = procedure({ name: 'working' }, async (ctx): Promise<void> => {
      await ctx.step('hold', () => 1)
      await ctx.sleep('1d')
    })
    // What an earlier release has recorded of this code.
    const continuing = procedure({ name: 'working' }, async (ctx): Promise<void> => {
      await ctx.step('hold', () => 1, { undo: () => {} })
      return ctx.continueAs()
    })
    const store = memory()
    const one = await testEngine({ procedures: [working], store })
    const run = await one.run(working, undefined, { id: 'a' })
    await one.advance('1h')
    await run.cancel()
    await refusalOf(run.result())
    await one.stop()
    await using engine = await testEngine({ procedures: [continuing], store, ...keep })
    expect(await engine.check({ run: 'a' })).toMatchObject([{ verdict: 'same' }])
  })

  test('reports code that does something else before the cancel, or undoes something else behind it', async () => {
    const holding = (name: string, undoes: boolean) =>
      procedure({ name: 'holding' }, async (ctx) => {
        await ctx.step(name, () => 1, undoes ? { undo: () => {} } : {})
        await ctx.sleep('1d')
      })
    const store = memory()
    const one = await testEngine({ procedures: [holding('hold', true)], store })
    const run = await one.run(holding('hold', true), undefined, { id: 'a' })
    await one.advance('1h')
    await run.cancel()
    await refusalOf(run.result())
    await one.stop()
    for (const [changed, verdict] of [
      [holding('hold', true), 'same'],
      [holding('take', true), 'diverges'],
      [holding('hold', false), 'diverges'],
    ] as const) {
      await using engine = await testEngine({ procedures: [changed], store, ...keep })
      expect(await engine.check({ run: 'a' })).toMatchObject([{ verdict }])
    }
  })
})
