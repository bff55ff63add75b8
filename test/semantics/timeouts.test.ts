import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hour, start } from './support.ts'

const as = { as: 'user:ana' } as const
const silent = [{ ask: /./, answer: 'silence' as const }]
const timeout = '1h'

/** A question with a timeout, what it gives when nobody answers, and what the log then says. */
interface Case {
  readonly what: string
  readonly ask: (ctx: Ctx) => Promise<unknown>
  readonly gives: unknown
  readonly shown: string
  readonly result: object
}
const at = new Date(start + hour)
const by = 'policy:on-timeout'

const ending: readonly Case[] = [
  {
    what: "approve with 'reject', the default",
    ask: (ctx) => ctx.human.approve('?', { timeout }),
    gives: { approved: false, timedOut: true, by: undefined, at, comment: undefined },
    shown: 'counts as a rejection',
    result: { approved: false, timed_out: true },
  },
  {
    what: "approve with 'approve'",
    ask: (ctx) => ctx.human.approve('?', { timeout, onTimeout: 'approve', risk: 'low', params: { a: 1 } }),
    gives: { approved: true, params: { a: 1 }, modified: false, by, at, comment: undefined },
    shown: 'counts as an approval',
    result: { approved: true, params: { a: 1 }, timed_out: true },
  },
  {
    what: 'input with a default',
    ask: (ctx) => ctx.human.input('?', z.number(), { timeout, onTimeout: { default: 7 } }),
    gives: 7,
    shown: 'the default is used',
    result: { default: 7, timed_out: true },
  },
  {
    what: 'select with a default',
    ask: (ctx) => ctx.human.select('?', ['a', 'b'], { timeout, onTimeout: { default: 'b' } }),
    gives: 'b',
    shown: 'counts as b',
    result: { default: 'b', timed_out: true },
  },
  {
    what: 'review with a default',
    ask: (ctx) => ctx.human.review('?', { text: 'x' }, { timeout, onTimeout: { default: 'reject' } }),
    gives: { choice: 'reject', artifact: { text: 'x' }, edited: false, by, at, comment: undefined },
    shown: 'counts as reject',
    result: { default: 'reject', timed_out: true },
  },
]

const failing: readonly Pick<Case, 'what' | 'ask'>[] = [
  { what: "approve with 'fail'", ask: (ctx) => ctx.human.approve('?', { timeout, onTimeout: 'fail' }) },
  { what: "input with 'fail', the default", ask: (ctx) => ctx.human.input('?', z.string(), { timeout }) },
  { what: "select with 'fail', the default", ask: (ctx) => ctx.human.select('?', ['a'], { timeout }) },
  { what: "review with 'fail', the default", ask: (ctx) => ctx.human.review('?', 1, { timeout }) },
]

const staying: readonly {
  readonly what: string
  readonly ask: (ctx: Ctx) => Promise<unknown>
  readonly answer: object
  readonly shown: string
  readonly alsoTo?: string
}[] = [
  {
    what: "approve with 'keep-waiting'",
    ask: (ctx) => ctx.human.approve('?', { timeout, onTimeout: 'keep-waiting' }),
    answer: { approved: true },
    shown: 'the ask stays open',
  },
  {
    what: "approve with 'escalate' to the engine's",
    ask: (ctx) => ctx.human.approve('?', { timeout, onTimeout: 'escalate', to: 'group:ops' }),
    answer: { approved: true },
    shown: 'the ask stays open and is shown to role:manager',
    alsoTo: 'role:manager',
  },
  {
    what: "approve with 'escalate' to somebody",
    ask: (ctx) =>
      ctx.human.approve('?', { timeout, onTimeout: { escalateTo: 'user:boss' }, to: 'group:ops' }),
    answer: { approved: true },
    shown: 'the ask stays open and is shown to user:boss',
    alsoTo: 'user:boss',
  },
  {
    what: "input with 'escalate'",
    ask: (ctx) => ctx.human.input('?', z.string(), { timeout, onTimeout: 'escalate', to: 'group:ops' }),
    answer: { value: 'x' },
    shown: 'the ask stays open and is shown to role:manager',
    alsoTo: 'role:manager',
  },
  {
    what: "select with 'keep-waiting'",
    ask: (ctx) => ctx.human.select('?', ['a'], { timeout, onTimeout: 'keep-waiting' }),
    answer: { choice: 'a' },
    shown: 'the ask stays open',
  },
  {
    what: 'review escalated to somebody',
    ask: (ctx) =>
      ctx.human.review('?', 1, { timeout, onTimeout: { escalateTo: 'user:boss' }, to: 'group:ops' }),
    answer: { choice: 'approve' },
    shown: 'the ask stays open and is shown to user:boss',
    alsoTo: 'user:boss',
  },
]

describe('when nobody answers in time', () => {
  for (const crashes of [false, true])
    describe(crashes ? 'and the worker dies after every write' : 'and all goes well', () => {
      test.each(ending)(
        'without an answer, $what ends at its deadline',
        async ({ ask, gives, shown, result }) => {
          const asking = procedure({ name: 'asking' }, async (ctx) => ({
            given: await ask(ctx),
            now: ctx.now(),
          }))
          await using engine = await testEngine({ procedures: [asking], humans: silent })
          if (crashes) await engine.crash('every')
          const run = await engine.run(asking)
          expect((await engine.inbox.next()).onTimeout).toBe(shown)
          expect(await run.result()).toEqual({ given: gives, now: at })
          const { execution_log, replay_index } = await engine.log(run.id)
          expect(execution_log).toMatchObject([
            {
              status: 'done',
              result: { ...result, responded_at: at.toISOString() },
              timestamp: at.toISOString(),
              duration_ms: hour,
            },
          ])
          expect(replay_index).toBe(1)
          expect((await engine.inbox.list({ status: 'timed-out' })).items).toMatchObject([
            { status: 'timed-out', answer: undefined },
          ])
        },
      )

      test.each(failing)('without an answer, $what fails the operation', async ({ ask }) => {
        const asking = procedure({ name: 'asking' }, (ctx) =>
          ask(ctx).catch((error: { readonly code: string; readonly details: object }) => ({
            code: error.code,
            ...error.details,
          })),
        )
        await using engine = await testEngine({ procedures: [asking], humans: silent })
        if (crashes) await engine.crash('every')
        const run = await engine.run(asking)
        expect(await run.result()).toEqual({
          code: 'ask-timed-out',
          ask: expect.stringMatching(/^[0-9a-f]{16}$/),
          address: `${run.id}/0`,
          message: '?',
        })
        expect((await engine.log(run.id)).execution_log).toMatchObject([
          {
            status: 'failed',
            result: { error: { name: 'PawlError', code: 'ask-timed-out' } },
            timestamp: at.toISOString(),
          },
        ])
      })

      test.each(staying)(
        'without an answer, $what stays open, overdue',
        async ({ ask, answer, shown, alsoTo }) => {
          const asking = procedure({ name: 'asking' }, ask)
          await using engine = await testEngine({
            procedures: [asking],
            humans: silent,
            escalateTo: 'role:manager',
          })
          if (crashes) await engine.crash('every')
          const run = await engine.run(asking)
          const before = await engine.inbox.next()
          expect(before).toMatchObject({ onTimeout: shown, overdue: false, dueAt: at })
          if (alsoTo !== undefined)
            expect((await engine.inbox.list({ to: alsoTo as 'user:boss' })).items).toEqual([])
          await engine.advance('10d')
          const to = alsoTo === undefined ? before.to : [...before.to, alsoTo]
          expect((await engine.inbox.list({ overdue: true })).items).toEqual([
            { ...before, to, overdue: true },
          ])
          if (alsoTo !== undefined)
            expect((await engine.inbox.list({ to: alsoTo as 'user:boss' })).items).toHaveLength(1)
          expect((await engine.log(run.id)).execution_log).toMatchObject([{ status: 'open', result: null }])
          await engine.inbox.answer(before.id, answer as { approved: true }, as)
          await run.result()
          expect((await engine.log(run.id)).execution_log).toMatchObject([
            { status: 'done', result: { timed_out: false } },
          ])
        },
      )
    })
})

describe('a timeout', () => {
  test('a timeout may be a date, also one in the past', async () => {
    const asking = procedure({ name: 'asking', input: z.date() }, (ctx, instant) =>
      ctx.human.approve('?', { timeout: instant }),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    expect(await (await engine.run(asking, new Date(start + 5 * hour))).result()).toMatchObject({
      timedOut: true,
      at: new Date(start + 5 * hour),
    })
    expect(await (await engine.run(asking, new Date(0))).result()).toMatchObject({
      timedOut: true,
      at: new Date(start + 5 * hour),
    })
  })

  test('a timeout counts from the ask, not from the claim of its run', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      await ctx.sleep('30m')
      return ctx.human.approve('?', { timeout })
    })
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    const run = await engine.run(asking)
    await engine.advance('45m')
    await engine.crash()
    expect(await run.result()).toMatchObject({ at: new Date(start + 1.5 * hour) })
  })

  test('a timeout of 30 days holds no resources', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?', { timeout: '31d' }))
    await using engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: '?', answer: { approved: true }, after: '30d' }],
    })
    expect(await (await engine.run(asking)).result()).toMatchObject({ approved: true })
  })

  test.each(['300ms', '36500d', '2147483648ms', '0s'] as const)('of %s works', async (time) => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?', { timeout: time }))
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    expect(await (await engine.run(asking)).result()).toMatchObject({ timedOut: true })
  })

  test.each(['-1s', '5', 'NaNs', ''])('of %j is refused', async (time) => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?', { timeout: time as '1s' }))
    await using engine = await testEngine({ procedures: [asking] })
    await expect((await engine.run(asking)).result()).rejects.toMatchObject({
      details: { cause: { code: 'duration-invalid' } },
    })
  })

  test('a timeout may approve only if the stated risk is low or medium', async () => {
    const asking = procedure({ name: 'asking', input: z.any() }, (ctx, risk) =>
      ctx.human.approve('?', { timeout, onTimeout: 'approve', risk } as never),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    for (const risk of ['high', 'critical', undefined])
      await expect((await engine.run(asking, risk)).result()).rejects.toMatchObject({
        details: { cause: { code: 'option-invalid' } },
      })
    for (const risk of ['low', 'medium'])
      expect(await (await engine.run(asking, risk)).result()).toMatchObject({ approved: true })
  })

  test('a timeout may return only a default that a person could have answered, as parsed by the schema', async () => {
    const schema = z.object({ amount: z.number().min(10), note: z.string().trim() })
    const asking = procedure({ name: 'asking', input: z.any() }, (ctx, value) =>
      ctx.human.input('?', schema, { timeout, onTimeout: { default: value } }),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    await expect((await engine.run(asking, { amount: 5, note: '' })).result()).rejects.toMatchObject({
      details: {
        cause: {
          code: 'option-invalid',
          message: expect.stringContaining('onTimeout.default.amount of input does not match'),
        },
      },
    })
    expect(await (await engine.run(asking, { amount: 10, note: ' ok ' })).result()).toEqual({
      amount: 10,
      note: 'ok',
    })
  })

  test('a timeout may return a default whose schema is asynchronous', async () => {
    const schema = z.string().refine(async (text) => text !== 'never')
    const asking = procedure({ name: 'asking', input: z.string() }, (ctx, value) =>
      ctx.human.input('?', schema, { timeout, onTimeout: { default: value } }),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    expect(await (await engine.run(asking, 'ever')).result()).toBe('ever')
    await expect((await engine.run(asking, 'never')).result()).rejects.toThrow('does not match the schema')
    expect((await engine.inbox.list({ status: 'timed-out' })).items).toHaveLength(1)
  })

  test('a timeout returns the default it was asked with, even if the code has changed', async () => {
    let minimum = 0
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.input(
        '?',
        z.number().refine((n) => n >= minimum),
        { timeout, onTimeout: { default: 5 } },
      ),
    )
    await using engine = await testEngine({ procedures: [asking], humans: silent })
    const run = await engine.run(asking)
    await engine.advance('30m')
    minimum = 10
    await engine.crash()
    expect(await run.result()).toBe(5)
  })
})

test('asks are listed overdue first, then by urgency', async () => {
  const asking = procedure({ name: 'asking', input: z.any() }, (ctx, options) =>
    ctx.human.approve('{name}?', options),
  )
  await using engine = await testEngine({ procedures: [asking], humans: silent })
  const ask = (name: string, options: object): Promise<unknown> =>
    engine.run(asking, { data: { name }, ...options })
  await ask('plain', {})
  await ask('risky', { risk: 'critical' })
  await ask('soon', { timeout: '2h', onTimeout: 'keep-waiting' })
  await ask('late', { timeout: '1m', onTimeout: 'escalate' })
  await ask('later', { timeout: '3h', onTimeout: 'keep-waiting' })
  await engine.advance('10m')
  const { items } = await engine.inbox.list()
  expect(items.map(({ message }) => message)).toEqual(['late?', 'risky?', 'soon?', 'later?', 'plain?'])
})
