import {
  type Ctx,
  checkRuns,
  createClient,
  PawlError,
  type Procedure,
  procedure,
  ref,
  unusedBranches,
} from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

type Body = (ctx: Ctx) => Promise<unknown>

function bill(body: Body): Procedure<undefined, unknown> {
  return procedure({ name: 'bill' }, body)
}

// A bill over its life: the code before the change, with both branches, and without the old one.
const before = bill(async (ctx) => {
  await ctx.step('count', () => 100)
  await ctx.human.approve('Send it?')
  return ctx.step('old rate', () => 119)
})
const both = bill(async (ctx) => {
  await ctx.step('count', () => 100)
  const branch = ctx.version('vat', 1, 2)
  if (branch === 2) await ctx.step('look up the rate', () => 21)
  await ctx.human.approve('Send it?')
  return branch === 2 ? ctx.step('new rate', () => 121) : ctx.step('old rate', () => 119)
})
const after = bill(async (ctx) => {
  await ctx.step('count', () => 100)
  await ctx.step('look up the rate', () => 21)
  await ctx.human.approve('Send it?')
  return ctx.step('new rate', () => 121)
})

const humans = [{ ask: 'Send it?', answer: { approved: true } }] as const

/** Starts a run and leaves it where it waits for its approval. */
async function leave(store: ReturnType<typeof memory>, code: Procedure<undefined, unknown>, id: string) {
  await using engine = await testEngine({ store, procedures: [code] })
  await engine.run(code, undefined, { id })
  await engine.inbox.next({ run: id })
}

test.for([['on-crash'], ['always']] as const)(
  'a run keeps its branch, and a new run takes the last one (replay: %s)',
  async ([replay]) => {
    const store = memory()
    await leave(store, before, 'bill:1')
    await leave(store, both, 'bill:2')
    await using engine = await testEngine({ store, procedures: [both], humans, replay })
    const run = await engine.run(both, undefined, { id: 'bill:3' })
    expect(await engine.get('bill:1').result()).toBe(119)
    expect(await engine.get('bill:2').result()).toBe(121)
    expect(await run.result()).toBe(121)
  },
)

test('a run keeps its branch over a crash after every commit', async () => {
  const store = memory()
  await leave(store, before, 'bill:1')
  await leave(store, both, 'bill:2')
  await using engine = await testEngine({ store, procedures: [both], humans })
  await engine.crash('every')
  // It crashes before its branch is recorded, so that its next worker cannot know that no code has been there.
  const run = await engine.run(both, undefined, { id: 'bill:3' })
  expect(await engine.get('bill:1').result()).toBe(119)
  expect(await engine.get('bill:2').result()).toBe(121)
  expect(await run.result()).toBe(119)
  expect(engine.calls).not.toHaveProperty('look up the rate')
})

test('a run that sleeps behind a change stays on the first branch and wakes when it should', async () => {
  const sleeping = (changed: boolean) =>
    bill(async (ctx) => {
      await ctx.step('count', () => 100)
      const branch = changed ? ctx.version('vat', 1, 2) : 1
      if (branch === 2) await ctx.step('look up the rate', () => 21)
      await ctx.sleep('365d')
      return branch
    })
  const store = memory()
  const [old, young] = [sleeping(false), sleeping(true)]
  {
    await using engine = await testEngine({ store, procedures: [old] })
    await engine.run(old, undefined, { id: 'bill:1' })
    await engine.advance('100d')
  }
  await using engine = await testEngine({ store, procedures: [young] })
  expect(await engine.check()).toMatchObject([{ verdict: 'same', versions: { vat: { on: 1 } } }])
  const run = await engine.run(young)
  await engine.advance('265d')
  expect(await engine.get('bill:1').status()).toMatchObject({ status: 'completed' })
  expect(await engine.get('bill:1').result()).toBe(1)
  expect(await run.result()).toBe(2)
  expect(engine.calls).toMatchObject({ 'look up the rate': 1 })
})

test('the log of a run does not list its branches as operations', async () => {
  await using engine = await testEngine({ procedures: [both], humans })
  const run = await engine.run(both)
  await run.result()
  const { execution_log } = await engine.log(run.id)
  expect(execution_log.map(({ position, name }) => `${position} ${name}`)).toEqual([
    ...['0 count', '1 look up the rate', '2 approve', '3 new rate'],
  ])
})

test('check names the branch of each run, and the old branches that no run uses', async () => {
  const store = memory()
  await leave(store, before, 'bill:1')
  await leave(store, both, 'bill:2')
  const checks = await checkRuns({ store, procedures: [both] })
  expect(checks.map(({ run, verdict, versions }) => ({ run, verdict, versions }))).toEqual([
    { run: 'bill:2', verdict: 'same', versions: { vat: { on: 2, offered: [1, 2] } } },
    { run: 'bill:1', verdict: 'same', versions: { vat: { on: 1, offered: [1, 2] } } },
  ])
  expect(unusedBranches(checks)).toEqual([])
  expect(await checkRuns({ store, procedures: [after] })).toMatchObject([
    { run: 'bill:2', verdict: 'same', versions: { vat: { on: 2, offered: [] } } },
    { run: 'bill:1', verdict: 'diverges' },
  ])

  await using engine = await testEngine({ store, procedures: [both] })
  const ask = await engine.inbox.next({ run: 'bill:1' })
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  await engine.get('bill:1').result()
  expect(unusedBranches(await engine.check())).toEqual([
    { procedure: 'bill', version: 1, change: 'vat', branch: 1 },
  ])
})

test('a run without the old branch in its code replays if it began with the new one', async () => {
  const store = memory()
  await leave(store, both, 'bill:1')
  await using engine = await testEngine({ store, procedures: [after], humans })
  expect(await engine.get('bill:1').result()).toBe(121)
})

test('a run whose branch is gone gets stuck, even if its code catches the error, and resumes once it is offered', async () => {
  const store = memory()
  await leave(store, both, 'bill:1')
  const gone = bill(async (ctx) => {
    await ctx.step('count', () => 100)
    let branch = 2
    try {
      branch = ctx.version('vat', 3, 4)
    } catch {}
    if (branch === 2) await ctx.step('look up the rate', () => 21)
    await ctx.human.approve('Send it?')
    return ctx.step('new rate', () => 121)
  })
  const details = { run: 'bill:1', change: 'vat', recorded: 2, offered: [3, 4] }
  expect(await checkRuns({ store, procedures: [gone] })).toMatchObject([
    { verdict: 'broken', code: 'version-gone', at: expect.stringContaining('branches.test.ts:') },
  ])
  {
    await using engine = await testEngine({ store, procedures: [gone], humans })
    const error = await engine
      .get('bill:1')
      .result()
      .catch((thrown: unknown) => thrown)
    expect(PawlError.is(error, 'version-gone') && error.details).toEqual(details)
    expect(await engine.get('bill:1').status()).toMatchObject({
      status: 'stuck',
      stuck: { code: 'version-gone', at: expect.stringContaining('branches.test.ts:') },
    })
  }
  await using engine = await testEngine({ store, procedures: [both], humans })
  expect(await engine.get('bill:1').result()).toBe(121)
})

test('a run that is started without its code takes the last branch, although its input is recorded first', async () => {
  const store = memory()
  const code = procedure(
    { name: 'bill', input: z.object({ cents: z.number().default(5) }) },
    async (ctx, input) => {
      const branch = ctx.version('vat', 1, 2)
      return ctx.step('rate', () => `${branch} ${input.cents}`)
    },
  )
  const client = createClient({ store })
  await client.run(ref<typeof code>('bill'), {}, { id: 'bill:1' })
  await client.stop()
  await using engine = await testEngine({ store, procedures: [code] })
  expect(await engine.get('bill:1').result()).toBe('2 5')
})

test('branches of operations that end together are chosen once each', async () => {
  const together = bill(async (ctx) => {
    const branches = await Promise.all(
      ['a', 'b', 'c'].map(async (name) => {
        await ctx.step(`in ${name}`, () => name)
        const branch = ctx.version(`change ${name}`, 1, 2, 3)
        await ctx.step(`out ${name} ${branch}`, () => name)
        return branch
      }),
    )
    await ctx.sleep('1d')
    return [...branches, ctx.version('change a', 1, 2, 3), ctx.version('later', 1, 7)]
  })
  for (const replay of ['on-crash', 'always'] as const) {
    await using engine = await testEngine({ procedures: [together], replay })
    const run = await engine.run(together)
    expect(await run.result()).toEqual([3, 3, 3, 3, 7])
    expect(engine.calls).toMatchObject({ 'out a 3': 1, 'out b 3': 1, 'out c 3': 1 })
    expect(await engine.check({ run: run.id })).toMatchObject([
      { verdict: 'same', versions: { 'change a': { on: 3 }, 'change b': { on: 3 }, later: { on: 7 } } },
    ])
  }
  // A crash between the results and the record of a choice: no body of the other branch has begun.
  await using engine = await testEngine({ procedures: [together] })
  await engine.crash('every')
  const run = await engine.run(together)
  const result = (await run.result()) as readonly number[]
  const names = Object.keys(engine.calls).filter((name) => name.startsWith('out'))
  expect(names.sort()).toEqual(['a', 'b', 'c'].map((name, index) => `out ${name} ${result[index]}`))
})

test('a mark on a later page is found before its change is passed', async () => {
  // The change moves from the end of a long log to its beginning.
  const moving = (where: 'start' | 'end') =>
    bill(async (ctx) => {
      const early = where === 'start' ? ctx.version('vat', 1, 2) : 0
      for (let i = 0; i < 1_100; i++) await ctx.step('work', () => i)
      const branch = where === 'start' ? early : ctx.version('vat', 1, 2)
      await ctx.human.approve('Send it?')
      return ctx.step(`rate ${branch}`, () => branch)
    })
  const store = memory()
  await leave(store, moving('end'), 'bill:1')
  expect(await checkRuns({ store, procedures: [moving('start')] })).toMatchObject([
    { verdict: 'same', versions: { vat: { on: 2 } } },
  ])
  await using engine = await testEngine({ store, procedures: [moving('start')], humans })
  expect(await engine.get('bill:1').result()).toBe(2)
  expect(engine.calls).toMatchObject({ 'rate 2': 1 })
})

test('version refuses what is not a change, and a call outside the procedure', async () => {
  for (const [change, ...versions] of [
    ['', 1, 2],
    [7, 1, 2],
    ['vat', 1],
    ['vat', 2, 1],
    ['vat', 1, 1],
    ['vat', 0, 1],
    ['vat', 1, 1.5],
    ['vat', 1, '2'],
  ]) {
    const wrong = bill(async (ctx) => (ctx.version as (...args: unknown[]) => number)(change, ...versions))
    await using engine = await testEngine({ procedures: [wrong], bugs: 'fail', logger: silent })
    const run = await engine.run(wrong)
    await expect(run.result()).rejects.toMatchObject({ cause: { code: 'option-invalid' } })
  }
  const inStep = bill((ctx) => ctx.step('vat', () => ctx.version('vat', 1, 2)))
  await using engine = await testEngine({ procedures: [inStep], logger: silent })
  const run = await engine.run(inStep)
  await expect(run.result()).rejects.toMatchObject({ code: 'foreign-await' })
})

const silent = { debug() {}, info() {}, warn() {}, error() {} }
