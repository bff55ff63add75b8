import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import {
  agent,
  type Ctx,
  createClient,
  createEngine,
  decider,
  FinalError,
  type Procedure,
  procedure,
} from '@pawl/core'
import type { Unit } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import { memory, type TestEngineOptions, testEngine } from '@pawl/testing'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { temporaryFolder } from '../support/bundle.ts'
import { meddleWith } from '../support/meddling-store.ts'
import { fail, keepLines, refusalOf, start } from './support.ts'

// What a programming error does to its run: it parks, and the next deploy goes on with it.

const quiet = () => ({ logger: keepLines().logger })
const here = /bugs\.test\.ts:\d+:\d+$/

/** An engine of a test that ends with it, and says nothing. */
async function startEngine(options: TestEngineOptions) {
  const engine = await testEngine({ ...quiet(), ...options })
  onTestFinished(() => engine[Symbol.asyncDispose]())
  return engine
}

/** A body that ends when it is told to. */
function makeGate<Result>(): {
  readonly pass: (result: Result) => void
  readonly body: () => Promise<Result>
} {
  let pass: (result: Result) => void = () => {}
  const opened = new Promise<Result>((resolve) => {
    pass = resolve
  })
  return { pass, body: () => opened }
}

async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise<void>((resolve) => setImmediate(resolve))
}

describe('an error that leaves the procedure', () => {
  const thrower = (body: (ctx: Ctx) => unknown) => procedure({ name: 'thrower' }, async (ctx) => body(ctx))
  class Invalid extends TypeError {}
  const throwing = (error: unknown) => () => {
    throw error
  }

  test.each<[string, (ctx: Ctx) => unknown, object]>([
    ['TypeError', () => (null as unknown as { readonly x: number }).x, { name: 'TypeError' }],
    ['ReferenceError', () => runInNewContext('x'), { name: 'ReferenceError' }],
    ['SyntaxError', () => JSON.parse('{'), { name: 'SyntaxError' }],
    ['RangeError', () => 'x'.repeat(-1), { name: 'RangeError' }],
    ['TypeError with a code', throwing(Object.assign(new TypeError('no'), { code: 'E1' })), { code: 'E1' }],
    ['TypeError of another realm', () => runInNewContext('null.x'), { name: 'TypeError' }],
    ['failed assertion', () => assert.equal(1, 2), { name: 'AssertionError' }],
    ['misused option', (ctx) => ctx.step('s', () => 1, { retries: 1 } as never), { code: 'option-invalid' }],
    ['wrong duration', (ctx) => ctx.sleep('1 hour' as never), { code: 'duration-invalid' }],
    ['forbidden call', () => fetch('http://localhost'), { code: 'nondeterministic-call' }],
    [
      'argument that cannot be stored',
      (ctx) => ctx.human.review('See?', { open: fail }),
      { code: 'payload-refused' },
    ],
  ])('parks the run as stuck if it is a %s', async (_, body, cause) => {
    const broken = thrower(body)
    const engine = await startEngine({ procedures: [broken] })
    const run = await engine.run(broken, undefined, { id: 'a' })
    const error = await refusalOf(run.result())
    expect(error).toMatchObject({ code: 'procedure-broken', details: { run: 'a', cause }, cause })
    expect(await run.status()).toMatchObject({ status: 'stuck', endedAt: undefined })
    expect((await engine.log('a')).execution_log).toEqual([])
  })

  test.each<[string, (ctx: Ctx) => unknown, object]>([
    ['subclass of TypeError', throwing(new Invalid('bad')), { name: 'TypeError', message: 'bad' }],
    ['Error', () => fail('bad'), { name: 'Error', message: 'bad' }],
    ['FinalError', throwing(new FinalError('bad')), { name: 'FinalError', message: 'bad' }],
    ['text', throwing('bad'), { message: 'bad' }],
    ['ZodError', () => z.string().parse(5), { name: 'ZodError' }],
    ['TypeError in another error', throwing(new Error('bad', { cause: new TypeError() })), { name: 'Error' }],
    [
      'step that failed with a TypeError',
      (ctx) => ctx.step('s', throwing(new TypeError('bad')), { retry: false }),
      { code: 'step-failed' },
    ],
    [
      'cause of a step that failed, thrown again',
      (ctx) =>
        ctx
          .step('s', () => assert.equal(1, 2), { retry: false })
          .catch((error: Error) => throwing(error.cause)()),
      { name: 'AssertionError' },
    ],
    [
      'recorded result that could not be stored',
      (ctx) => ctx.step('s', () => fail),
      { code: 'payload-refused' },
    ],
    ['output that cannot be stored', () => fail, { code: 'payload-refused' }],
    [
      'TypeError that another object names itself',
      throwing(Object.assign(Object.create(null), { name: 'TypeError', message: 'bad' })),
      { name: 'TypeError' },
    ],
  ])('fails the run if it is a %s', async (_, body, cause) => {
    const failing = thrower(body)
    const engine = await startEngine({ procedures: [failing] })
    const run = await engine.run(failing)
    expect(await refusalOf(run.result())).toMatchObject({ code: 'run-failed', details: { cause } })
    expect(await run.status()).toMatchObject({ status: 'failed' })
  })

  test('a bug counts the same if it escapes from a callback, even after the procedure has returned', async () => {
    const leaking = procedure({ name: 'leaking', input: z.boolean() }, async (ctx, returns) => {
      await ctx.step('work', () => 1)
      process.nextTick(() => (null as unknown as () => void)())
      if (!returns) await ctx.sleep('1h')
    })
    const engine = await startEngine({ procedures: [leaking] })
    for (const returns of [false, true]) {
      const run = await engine.run(leaking, returns)
      expect(await refusalOf(run.result())).toMatchObject({
        code: 'procedure-broken',
        details: { cause: { name: 'TypeError' }, at: expect.stringMatching(here) },
      })
      expect((await engine.log(run.id)).execution_log).toMatchObject([{ name: 'work' }])
    }
  })

  test('a bug is reported with cause, place, remedy and stack', async () => {
    const broken = thrower(async (ctx) => {
      const order = await ctx.step('load', () => ({}) as { readonly items: readonly string[] })
      return order.items.length
    })
    const { logger, lines } = keepLines()
    const engine = await startEngine({ procedures: [broken], logger })
    const run = await engine.run(broken, undefined, { id: 'order:7' })
    const error = await refusalOf(run.result())
    const { at } = error.details as { readonly at: string }
    expect(at).toMatch(here)
    expect(error.message).toBe(
      `Run order:7 stopped at a bug in its procedure: TypeError: Cannot read properties of undefined (reading 'length') (${at}). The run is now 'stuck'; its asks and timers are kept. Fix and deploy the procedure: engines retry stuck runs when they start, and \`client.retry(id)\` or \`pawl retry\` retries at once. To end such runs instead, set \`bugs: 'fail'\`.`,
    )
    expect((error as { cause?: Error }).cause?.stack).toContain(at)
    const { failure } = await run.status()
    expect(failure).toMatchObject({ code: 'procedure-broken', message: error.message })
    expect(failure?.stack?.split('\n')[0]).toContain(at)
    const [line] = lines
    expect(lines).toHaveLength(1)
    expect(line?.level).toBe('error')
    expect(line?.message).toBe(
      `Run "order:7" is stuck (procedure-broken in procedure "thrower" at ${at}): TypeError: Cannot read properties of undefined (reading 'length'). Fix and deploy the procedure: engines retry stuck runs when they start, and \`client.retry(id)\` or \`pawl retry\` retries at once. To end such runs instead, set \`bugs: 'fail'\`.`,
    )
    expect(line?.fields).toEqual({
      ...{ run: 'order:7', procedure: 'thrower', outcome: 'is stuck' },
      ...{ code: 'procedure-broken', at },
    })
  })

  test('a bug parks the run at once, without any virtual time', async () => {
    const broken = thrower((ctx) => ctx.step('s', () => 1).then((one) => one.toFixed(-1)))
    const engine = await startEngine({ procedures: [broken] })
    const run = await engine.run(broken)
    expect(await refusalOf(run.result())).toMatchObject({ code: 'procedure-broken' })
    const later = await engine.run(broken)
    expect((await later.status()).startedAt).toEqual(new Date(start))
  })

  test('a bug is reported to a test that waits for something else', async () => {
    const broken = thrower(() => (null as unknown as () => void)())
    const engine = await startEngine({ procedures: [broken] })
    await engine.run(broken, undefined, { id: 'a' })
    await expect(engine.inbox.next()).rejects.toThrow(
      /^The wait cannot end.*\nRun "a" is stuck: Run a stopped at a bug in its procedure: TypeError/,
    )
  })

  test('a bug is reported if a deploy has added it where the log continues', async () => {
    const steps = (isBroken: boolean) =>
      procedure({ name: 'p' }, async (ctx) => {
        await ctx.step('one', () => 1)
        if (isBroken) (null as unknown as () => void)()
        await ctx.step('two', () => 2)
        await ctx.sleep('1h')
        return 'done'
      })
    const store = memory()
    const [right, broken] = [steps(false), steps(true)]
    const before = await testEngine({ procedures: [right], store })
    const run = await before.run(right, undefined, { id: 'a' })
    await before.advance('1m')
    const log = await before.log('a')
    await before.stop()
    const during = await testEngine({ procedures: [broken], store, ...quiet() })
    expect(await refusalOf(during.get(run.id).result())).toMatchObject({
      code: 'procedure-broken',
      details: { cause: { name: 'TypeError' }, at: expect.stringMatching(here) },
    })
    expect(await during.log('a')).toEqual(log)
    await during.stop()
    const after = await startEngine({ procedures: [right], store })
    expect(await after.get(right, 'a').result()).toBe('done')
    expect(after.calls).toEqual({})
  })
})

describe('a run that is parked for a bug', () => {
  test('a run parked for a bug resumes with the next deploy and keeps its answers', async () => {
    const asking = (isFixed: boolean) =>
      procedure({ name: 'refund' }, async (ctx) => {
        const { approved } = await ctx.human.approve('Refund?')
        const note = (isFixed ? 'no note' : undefined) as string
        return [approved, note.length]
      })
    const store = memory()
    const before = await testEngine({ procedures: [asking(false)], store, ...quiet() })
    const run = await before.run(asking(false), undefined, { id: 'a' })
    const ask = await before.inbox.next()
    await before.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await refusalOf(run.result())).toMatchObject({ code: 'procedure-broken' })
    await before.stop()
    const after = await startEngine({ procedures: [asking(true)], store })
    expect(await after.get(asking(true), 'a').result()).toEqual([true, 7])
  })

  test('a run parked for a bug is available to the next process on a SQLite file', async () => {
    const folder = await temporaryFolder()
    const store = sqlite(join(folder, 'pawl.db'))
    const loading = (isFixed: boolean) =>
      procedure({ name: 'loading' }, async (ctx) => {
        const order = await ctx.step('load', () => ({ items: ['tea'] }))
        return (isFixed ? order : (undefined as unknown as typeof order)).items
      })
    const before = await createEngine({ store, procedures: [loading(false)], ...quiet() })
    const run = await before.run(loading(false), undefined, { id: 'a' })
    expect(await refusalOf(run.result())).toMatchObject({ code: 'procedure-broken' })
    await before.stop()
    const { logger, lines } = keepLines()
    const after = await createEngine({ store, procedures: [loading(true)], logger })
    expect(await after.get(loading(true), 'a').result()).toEqual(['tea'])
    await after.stop()
    await rm(folder, { recursive: true })
    expect(lines).toEqual([])
  })

  test('a run parked for a bug is retried by the same worker later, like other stuck runs', async () => {
    let isFixed = false
    const broken = procedure({ name: 'broken' }, async (ctx) => {
      await ctx.step('work', () => 1)
      if (!isFixed) (null as unknown as () => void)()
      return 'done'
    })
    const engine = await startEngine({ procedures: [broken] })
    const run = await engine.run(broken)
    await refusalOf(run.result())
    isFixed = true
    await engine.advance('10s')
    expect(await run.result()).toBe('done')
    expect(engine.calls).toEqual({ work: 1 })
  })

  test('a run parked for a bug keeps its asks and timers, and accepts answers and signals', async () => {
    const signals = { go: z.string() }
    const waiting = (isFixed: boolean) =>
      procedure({ name: 'waiting', signals }, async (ctx) => {
        const approval = ctx.human.approve('May I?', { timeout: '2d' })
        const timer = ctx.sleep('1h').then(() => ctx.now().getTime() - start)
        const reported = ctx.receive('go')
        await ctx.step('work', () => 1)
        await ctx.sleep('1m')
        if (!isFixed) (null as unknown as () => void)()
        return [(await approval).approved, await timer, await reported]
      })
    const store = memory()
    const before = await testEngine({
      ...{ procedures: [waiting(false)], store, ...quiet() },
      humans: [{ ask: 'May I?', answer: 'silence' }],
    })
    const run = await before.run(waiting(false), undefined, { id: 'a' })
    expect(await refusalOf(run.result())).toMatchObject({ code: 'procedure-broken' })
    const log = await before.log('a')
    expect(log.execution_log.map(({ type, status }) => [type, status])).toEqual([
      ['hitl_approval', 'open'],
      ['timer', 'open'],
      ['signal', 'open'],
      ['step', 'done'],
      ['timer', 'done'],
    ])
    const { items } = await before.inbox.list({ run: 'a' })
    expect(items).toMatchObject([{ status: 'open', run: 'a', position: 0 }])
    await before.inbox.answer('a/0', { approved: true }, { as: 'user:ana' })
    await run.signal('go', 'gone')
    expect((await before.log('a')).execution_log).toEqual(log.execution_log)
    expect((await run.status()).status).toBe('stuck')
    await before.stop()
    const after = await startEngine({ procedures: [waiting(true)], store })
    expect(await after.get(waiting(true), 'a').result()).toEqual([true, 3_600_000, 'gone'])
    expect(after.calls).toEqual({})
  })

  test('a run parked for a bug starts no operation of that turn', async () => {
    const begun: string[] = []
    const broken = procedure({ name: 'broken' }, async (ctx) => {
      await ctx.step('first', () => begun.push('first'))
      void ctx.step('second', () => begun.push('second'))
      void ctx.human.approve('Never asked')
      void ctx.human.notify('Never told')
      throw new TypeError('a bug')
    })
    const engine = await startEngine({ procedures: [broken] })
    const run = await engine.run(broken)
    await refusalOf(run.result())
    expect(begun).toEqual(['first'])
    expect((await engine.log(run.id)).execution_log).toMatchObject([{ name: 'first' }])
    expect((await engine.inbox.list()).items).toEqual([])
  })
})

describe('bodies that are at work when a bug is met', () => {
  /** How often the bug was met: what the turn leads to is decided before anything else can happen. */
  let broken = 0
  const breakDown = (): never => {
    broken++
    throw new TypeError('a bug')
  }
  beforeEach(() => {
    broken = 0
  })

  test('running bodies are awaited and recorded before the run parks for a bug', async () => {
    const [works, fails] = [makeGate<string>(), makeGate<never>()]
    const writer = agent({ name: 'writer', input: z.any(), output: z.any() }, works.body)
    const busy = (isFixed: boolean) =>
      procedure({ name: 'busy' }, async (ctx) => {
        const all = [
          ctx.step('works', works.body),
          ctx.agent(writer, 'x'),
          ctx.step('fails', () => fails.body().then(fail), {
            retry: { attempts: 2, backoff: '1h', jitter: 'none' },
          }),
          ctx.step('fails for good', () => fails.body().then(fail), { retry: false }),
        ]
        await ctx.step('quick', () => 1)
        if (!isFixed) breakDown()
        return (await Promise.allSettled(all)).map(({ status }) => status)
      })
    const store = memory()
    const before = await testEngine({ procedures: [busy(false)], store, ...quiet() })
    const run = await before.run(busy(false), undefined, { id: 'a' })
    const refused = refusalOf(run.result())
    await until(() => broken === 1)
    expect((await run.status()).status).toBe('running')
    works.pass('done')
    await until(async () => (await before.log('a')).execution_log.some(({ name }) => name === 'works'))
    expect((await run.status()).status).toBe('running')
    fails.pass(undefined as never)
    expect(await refused).toMatchObject({ code: 'procedure-broken' })
    expect((await before.log('a')).execution_log.map(({ name, status }) => [name, status])).toEqual([
      ['works', 'done'],
      ['writer', 'done'],
      ['fails', 'open'],
      ['fails for good', 'failed'],
      ['quick', 'done'],
    ])
    expect(before.calls).toEqual({ works: 1, writer: 1, fails: 1, 'fails for good': 1, quick: 1 })
    await before.stop()
    const after = await startEngine({ procedures: [busy(true)], store })
    expect(await after.get(busy(true), 'a').result()).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
    ])
    // The second attempt of the one that had another.
    expect(after.calls).toEqual({ fails: 1 })
  })

  test('a body that waits for a slot does not begin after a bug', async () => {
    const gate = makeGate<string>()
    const busy = (isFixed: boolean) =>
      procedure({ name: 'busy' }, async (ctx) => {
        const work = [ctx.step('works', gate.body), ctx.step('waits', () => 'done')]
        await ctx.sleep('1m')
        if (!isFixed) breakDown()
        return Promise.all(work)
      })
    const store = memory()
    const before = await testEngine({ procedures: [busy(false)], store, concurrency: 1, ...quiet() })
    const run = await before.run(busy(false), undefined, { id: 'a' })
    const refused = refusalOf(run.result())
    await until(() => broken === 1)
    gate.pass('done')
    expect(await refused).toMatchObject({ code: 'procedure-broken' })
    expect(before.calls).toEqual({ works: 1 })
    await before.stop()
    const after = await startEngine({ procedures: [busy(true)], store })
    expect(await after.get(busy(true), 'a').result()).toEqual(['done', 'done'])
    expect(after.calls).toEqual({ waits: 1 })
  })

  test('a decision delegated to people after a bug has its ask recorded, with an earlier answer', async () => {
    const gate = makeGate<number>()
    const judge = decider('judge', async () => ({
      choice: 'yes',
      rationale: '?',
      confidence: await gate.body(),
    }))
    const deciding = (isFixed: boolean) =>
      procedure({ name: 'deciding', input: z.string().optional() }, async (ctx, key) => {
        const keyed = key === undefined ? {} : { key }
        const decision = ctx.agent.decide('Keep it?', ['yes', 'no'], {
          ...{ agent: judge, minConfidence: 0.9, fallback: { ask: {} }, ...keyed },
        })
        await ctx.step('quick', () => 1)
        if (!isFixed) breakDown()
        const { choice, by } = await decision
        return [choice, by]
      })
    const store = memory()
    const silent = { humans: [{ ask: 'Keep', answer: 'silence' as const }] }
    const before = await testEngine({ procedures: [deciding(false)], store, ...quiet(), ...silent })
    await before.run(deciding(false), undefined, { id: 'a' })
    await before.run(deciding(false), 'keep', { id: 'b' })
    await until(() => broken === 2)
    await before.inbox.answer({ run: 'b', key: 'keep' }, { choice: 'no' }, { as: 'user:bob' })
    gate.pass(0.1)
    for (const id of ['a', 'b'])
      expect(await refusalOf(before.get(id).result())).toMatchObject({ code: 'procedure-broken' })
    expect((await before.inbox.list()).items).toMatchObject([{ run: 'a', status: 'open' }])
    await before.inbox.answer('a/0', { choice: 'no' }, { as: 'user:ana' })
    expect((await before.log('a')).execution_log).toMatchObject([{ status: 'open' }, { status: 'done' }])
    await before.stop()
    const after = await startEngine({ procedures: [deciding(true)], store, ...silent })
    expect(await after.get(deciding(true), 'a').result()).toEqual(['no', 'user:ana'])
    expect(await after.get(deciding(true), 'b').result()).toEqual(['no', 'user:bob'])
    expect(after.calls).toEqual({})
  })
})

describe('what comes in the turn of the bug', () => {
  test('a signal whose check ends in the turn of a bug is not recorded, and is available at the retry', async () => {
    let isFixed = false
    let isSlow = false
    let endCheck = (): void => {}
    const schema = z.string().refine(async () => {
      if (isSlow)
        await new Promise<void>((resolve) => {
          endCheck = resolve
        })
      return true
    })
    const receiving = procedure({ name: 'receiving', signals: { go: schema } }, async (ctx) => {
      await ctx.sleep('1m')
      const reported = ctx.receive('go')
      await ctx.step('work', () => 1)
      endCheck()
      if (!isFixed) throw new TypeError('a bug')
      return reported
    })
    const engine = await startEngine({ procedures: [receiving] })
    const run = await engine.run(receiving, undefined, { id: 'a' })
    await run.signal('go', 'gone')
    isSlow = true
    expect(await refusalOf(run.result())).toMatchObject({ code: 'procedure-broken' })
    expect((await engine.log('a')).execution_log.map(({ type }) => type)).toEqual(['timer', 'step'])
    isFixed = true
    isSlow = false
    await engine.retry('a')
    expect(await run.result()).toBe('gone')
  })

  test('an early answer in the turn of a bug is kept, and wins when the decision asks', async () => {
    const inner = memory()
    const meddling = meddleWith(inner)
    const person = createClient({ store: inner })
    const gate = makeGate<number>()
    const judge = decider('judge', async () => ({
      choice: 'yes',
      rationale: '?',
      confidence: await gate.body(),
    }))
    const deciding = (isFixed: boolean) =>
      procedure({ name: 'deciding' }, async (ctx) => {
        const decision = ctx.agent.decide('Keep it?', ['yes', 'no'], {
          ...{ agent: judge, minConfidence: 0.9, fallback: { ask: {} }, key: 'keep', history: 'none' },
        })
        await ctx.step('quick', () => 1)
        if (!isFixed) throw new TypeError('a bug')
        return (await decision).by
      })
    // The question is refused, and prepared again, before the answer is read.
    const refused = makeGate<void>()
    meddling.next('mail.list', (go) => refused.body().then(go))
    meddling.next(
      'log.commit',
      async (go) => {
        await person.inbox.answer({ run: 'a', key: 'keep' }, { choice: 'no' }, { as: 'user:bob' })
        const outcomes = await go()
        setImmediate(() => refused.pass())
        return outcomes
      },
      ([, units]) =>
        (units as readonly Unit[]).some(({ effects }) => effects.some((one) => one.do === 'open-ask')),
    )
    const start = (isFixed: boolean) =>
      createEngine({ store: meddling.store, procedures: [deciding(isFixed)], ...quiet() })
    const before = await start(false)
    const run = await before.run(deciding(false), undefined, { id: 'a' })
    await until(async () => (await before.log('a')).execution_log.some(({ name }) => name === 'quick'))
    gate.pass(0.1)
    expect(await refusalOf(run.result())).toMatchObject({ code: 'procedure-broken' })
    await before.stop()
    const after = await start(true)
    expect(await after.get(deciding(true), 'a').result()).toBe('user:bob')
    await after.stop()
    await person.stop()
  })
})

describe('a misuse that is found as an operation begins', () => {
  const schema = z.number().min(10)
  const asking = (value: number, given: { readonly bugs?: 'park' | 'fail' } = {}) =>
    procedure({ name: 'asking', ...given }, async (ctx) => {
      const question = ctx.human.input('How many?', schema, { timeout: '1h', onTimeout: { default: value } })
      const step = ctx.step('work', () => 1)
      return [await question, await step]
    })
  const silent = { humans: [{ ask: 'How many?', answer: 'silence' as const }] }

  test('a misuse found as an operation begins parks the run with the call site, and records nothing', async () => {
    const store = memory()
    const before = await testEngine({ procedures: [asking(5)], store, ...silent, ...quiet() })
    const run = await before.run(asking(5), undefined, { id: 'a' })
    const error = await refusalOf(run.result())
    expect(error).toMatchObject({
      code: 'procedure-broken',
      details: {
        cause: { code: 'option-invalid', message: expect.stringContaining('does not match the schema') },
        at: expect.stringMatching(here),
      },
    })
    expect((await before.log('a')).execution_log).toEqual([])
    expect(before.calls).toEqual({})
    await before.stop()
    const after = await startEngine({ procedures: [asking(50)], store, ...silent })
    expect(await after.get(asking(50), 'a').result()).toEqual([50, 1])
  })

  test('a misuse parks the run even if the schema takes its time and bodies are running', async () => {
    const gate = makeGate<number>()
    const slow = (value: number) =>
      procedure({ name: 'asking' }, async (ctx) => {
        const step = ctx.step('work', gate.body)
        const question = ctx.human.input(
          'How many?',
          z.number().refine(async (n) => n > 10),
          {
            ...{ timeout: '1h', onTimeout: { default: value } },
          },
        )
        return [await question, await step]
      })
    const store = memory()
    const before = await testEngine({ procedures: [slow(5)], store, ...silent, ...quiet() })
    const run = await before.run(slow(5), undefined, { id: 'a' })
    const refused = refusalOf(run.result())
    await until(() => before.calls['work'] === 1)
    gate.pass(7)
    expect(await refused).toMatchObject({
      code: 'procedure-broken',
      details: { at: expect.stringMatching(here) },
    })
    expect((await before.log('a')).execution_log).toMatchObject([{ name: 'work', status: 'done' }])
    await before.stop()
    const after = await startEngine({ procedures: [slow(50)], store, ...silent })
    expect(await after.get(slow(50), 'a').result()).toEqual([50, 7])
    expect(after.calls).toEqual({})
  })

  test('a misuse parks the run for a default that the schema turns into an unstorable value', async () => {
    const odd = {
      '~standard': { version: 1, vendor: 'odd', validate: () => ({ value: { open: fail } }) },
    } as const
    const wrong = procedure({ name: 'wrong' }, (ctx) =>
      ctx.human.input('What?', odd, { timeout: '1h', onTimeout: { default: 1 } }),
    )
    const engine = await startEngine({ procedures: [wrong] })
    expect(await refusalOf((await engine.run(wrong)).result())).toMatchObject({
      code: 'procedure-broken',
      details: { cause: { code: 'payload-refused', message: expect.stringContaining('onTimeout.default') } },
    })
  })

  test("a misuse is recorded and rejects the operation with bugs: 'fail', and such a log fails its run with 'park'", async () => {
    const store = memory()
    const before = await testEngine({
      procedures: [asking(5, { bugs: 'fail' })],
      store,
      ...silent,
      ...quiet(),
    })
    const waiting = procedure({ name: 'waiting', bugs: 'fail' }, async (ctx) => {
      const question = ctx.human.input('How many?', schema, { timeout: '1h', onTimeout: { default: 5 } })
      await ctx.sleep('1h')
      return question
    })
    const parking = procedure({ name: 'waiting' }, async (ctx) => {
      const question = ctx.human.input('How many?', schema, { timeout: '1h', onTimeout: { default: 5 } })
      question.catch(() => {})
      await ctx.sleep('1h')
      return question
    })
    expect(await refusalOf((await before.run(asking(5))).result())).toMatchObject({
      code: 'run-failed',
      details: { cause: { code: 'option-invalid' } },
    })
    await before.stop()
    const during = await testEngine({ procedures: [waiting], store, ...silent, ...quiet() })
    await during.run(waiting, undefined, { id: 'a' })
    await during.advance('1m')
    await during.stop()
    const after = await startEngine({ procedures: [parking], store, ...silent })
    expect(await refusalOf(after.get('a').result())).toMatchObject({
      code: 'run-failed',
      details: { cause: { code: 'option-invalid' } },
    })
  })
})

describe('bugs', () => {
  const broken = (bugs?: 'park' | 'fail'): Procedure<void, never> =>
    procedure({ name: 'broken', ...(bugs === undefined ? {} : { bugs }) }, async () => {
      throw new TypeError('a bug')
    }) as never

  test.each([
    [undefined, undefined, 'procedure-broken'],
    [undefined, 'park', 'procedure-broken'],
    [undefined, 'fail', 'run-failed'],
    ['park', 'fail', 'procedure-broken'],
    ['fail', 'park', 'run-failed'],
    ['fail', undefined, 'run-failed'],
  ] as const)('of the procedure is %s and of the engine %s: %s', async (own, common, code) => {
    const engine = await startEngine({
      procedures: [broken(own)],
      ...(common === undefined ? {} : { bugs: common }),
    })
    const run = await engine.run(broken(own))
    expect(await refusalOf(run.result())).toMatchObject({ code, details: { cause: { name: 'TypeError' } } })
  })

  test('refuses any other value of bugs', async () => {
    expect(() => broken('ignore' as never)).toThrow(
      expect.objectContaining({ code: 'option-invalid', message: expect.stringContaining("'park', 'fail'") }),
    )
    await expect(testEngine({ procedures: [], bugs: true as never })).rejects.toMatchObject({
      code: 'option-invalid',
    })
  })
})

describe('a bug in a promise that nothing awaits', () => {
  test('a bug in a promise that is not awaited is logged once, with its place, and changes nothing', async () => {
    const { logger, lines } = keepLines()
    const careless = procedure({ name: 'careless', signals: { go: z.void() } }, async (ctx) => {
      await ctx.step('work', () => 1)
      void (async () => (null as unknown as () => void)())()
      await ctx.receive('go')
      return 'done'
    })
    const engine = await startEngine({ procedures: [careless], logger })
    const run = await engine.run(careless, undefined, { id: 'a' })
    await engine.advance('1m')
    const [line, ...others] = lines
    expect(others).toEqual([])
    expect(line).toMatchObject({
      level: 'error',
      message: expect.stringMatching(
        /^Run "a" has an unhandled rejection \(TypeError in procedure "careless" at .*bugs\.test\.ts:\d+:\d+\): TypeError: .* The run continues\. /,
      ),
      fields: { run: 'a', procedure: 'careless', code: 'TypeError', at: expect.stringMatching(here) },
    })
    await engine.crash()
    await run.signal('go')
    expect(await run.result()).toBe('done')
    expect(lines).toHaveLength(1)
  })

  test('a bug in a promise that is awaited later is logged once', async () => {
    const { logger, lines } = keepLines()
    const late = procedure({ name: 'late' }, async (ctx) => {
      await ctx.step('work', () => 1)
      const broken = (async () => (null as unknown as () => void)())()
      await ctx.sleep('1m')
      return broken.catch((error: unknown) => error instanceof TypeError)
    })
    const engine = await startEngine({ procedures: [late], logger })
    expect(await (await engine.run(late)).result()).toBe(true)
    expect(lines.map(({ level }) => level)).toEqual(['error'])
  })
})

describe('a run that has failed', () => {
  const failing = procedure({ name: 'failing', input: z.number() }, async (ctx, n) => {
    await ctx.step('charge', () => fail(`no money for ${n}\nat all`), { retry: false })
  })

  test('a failed run is logged with id, procedure, code, cause, place and remedy, and its status has the stack', async () => {
    const { logger, lines } = keepLines()
    const engine = await startEngine({ procedures: [failing], logger })
    const run = await engine.run(failing, 5, { id: 'order:5' })
    expect(await refusalOf(run.result())).toMatchObject({ code: 'run-failed' })
    const [line, ...others] = lines
    expect(others).toEqual([])
    const at = (line?.fields as { readonly at?: string } | undefined)?.at
    expect(line).toEqual({
      level: 'error',
      fields: { run: 'order:5', procedure: 'failing', outcome: 'failed', code: 'step-failed', at },
      message: `Run "order:5" failed (step-failed in procedure "failing" at ${at}): Step 'charge' failed after 1 attempt: Error: no money for 5 at all. The failure is recorded. Catch this error to handle it, or change the \`retry\` option of the step. See \`status().failure\` or \`pawl show\`, and the log of the run. After fixing the cause, call \`client.retry(id)\` or run \`pawl retry\`.`,
    })
    // Where it was thrown: in the helper of the tests.
    expect(at).toMatch(/support\.ts:\d+:\d+$/)
    const { failure } = await run.status()
    expect(failure).toMatchObject({ code: 'step-failed' })
    expect(failure?.stack).toMatch(/^ {4}at fail .*support\.ts:\d+:\d+\)\n {4}at .*bugs\.test\.ts/)
  })

  test('the first ten failed runs are logged one by one, later ones once a minute with a count', async () => {
    const { logger, lines } = keepLines()
    const engine = await startEngine({ procedures: [failing], logger })
    for (let n = 1; n <= 25; n++) await refusalOf((await engine.run(failing, n, { id: `${n}` })).result())
    expect(lines.map(({ fields }) => (fields as { run: string }).run)).toEqual(
      Array.from({ length: 10 }, (_, i) => `${i + 1}`),
    )
    await engine.advance('2m')
    expect(lines).toHaveLength(11)
    expect(lines.at(-1)).toMatchObject({
      message: expect.stringMatching(
        /^Run "25" failed \(step-failed in procedure "failing" at .*, 15 times in the last 120 s\): /,
      ),
      fields: { run: '25', count: 15 },
    })
    for (let n = 26; n <= 30; n++) await refusalOf((await engine.run(failing, n)).result())
    await engine.stop()
    expect(lines.slice(11).map(({ fields }) => (fields as { count?: number }).count)).toEqual([5])
  })

  test('a failed run is logged whatever value was thrown', async () => {
    const { logger, lines } = keepLines()
    const odd = procedure({ name: 'odd' }, async () => {
      throw Object.defineProperty(new Error('x'), 'cause', {
        get: () => fail('not to be looked at'),
      })
    })
    const engine = await startEngine({ procedures: [odd], logger })
    expect(await refusalOf((await engine.run(odd)).result())).toMatchObject({ code: 'run-failed' })
    expect(lines).toMatchObject([{ level: 'error', fields: { code: 'run-failed', procedure: 'odd' } }])
  })
})

describe('the place in the code that a line names', () => {
  test('a logged failure names the call of the failed operation if its error has no better place', async () => {
    const { logger, lines } = keepLines()
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      await ctx.step('before', () => 1)
      await ctx.human.select('Which?', ['a'], { timeout: '1h' })
    })
    const engine = await startEngine({
      ...{ procedures: [asking], logger },
      humans: [{ ask: 'Which?', answer: 'silence' }],
    })
    const run = await engine.run(asking, undefined, { id: 'a' })
    expect(await refusalOf(run.result())).toMatchObject({ details: { cause: { code: 'ask-timed-out' } } })
    expect(lines).toMatchObject([
      {
        message: expect.stringMatching(
          /^Run "a" failed \(ask-timed-out in procedure "asking" at .*bugs\.test\.ts:\d+:\d+\): No one answered/,
        ),
        fields: { code: 'ask-timed-out', at: expect.stringMatching(here) },
      },
    ])
    expect((await engine.log('a')).execution_log.map(({ status }) => status)).toEqual(['done', 'failed'])
  })

  test('a logged failure names the last operation if the run waited for something else', async () => {
    const { logger, lines } = keepLines()
    const waiting = procedure({ name: 'waiting' }, async (ctx) => {
      await ctx.step('before', () => 1)
      await new Promise(() => {})
    })
    const engine = await startEngine({ procedures: [waiting], logger })
    const run = await engine.run(waiting, undefined, { id: 'a' })
    expect(await refusalOf(run.result())).toMatchObject({ code: 'foreign-await' })
    expect(lines).toMatchObject([
      {
        message: expect.stringMatching(
          /^Run "a" is stuck \(foreign-await in procedure "waiting" at .*bugs\.test\.ts:\d+:\d+\): it waits for/,
        ),
      },
    ])
  })
})
