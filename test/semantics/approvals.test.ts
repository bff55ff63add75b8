import { type Actor, type Approval, agent, createClient, procedure, ref, type Schema } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hour, keepLines, minute, refusalOf, start } from './support.ts'

const as = { as: 'user:ana' } as const

const refund = procedure({ name: 'refund' }, (ctx) =>
  ctx.human.approve('Refund {amount} EUR for {orderId}?', {
    params: { orderId: 'A-1', amount: 45, note: { reason: 'late' } },
    editable: ['amount'],
    schema: z.object({
      orderId: z.string(),
      amount: z.number().positive().max(100),
      note: z.object({ reason: z.string() }),
    }),
    risk: {
      level: 'high',
      reasons: ['external'],
      reversible: false,
      impact: { amount: 45, currency: 'EUR' },
    },
    timeout: '1h',
  }),
)

describe('an approval', () => {
  test('an approval shows everything a person needs to decide', async () => {
    const rich = procedure({ name: 'rich' }, async (ctx) => {
      for (const name of ['one', 'two', 'three', 'four', 'five', 'six'])
        await ctx.step(name, () => ({ name }))
      await ctx.human.approve('Delete {count} files from {dir}? {literally}', {
        params: { count: 3, dir: '/tmp' },
        data: { literally: 'yes' },
        editable: ['count'],
        to: ['group:ops', 'user:bob'],
        timeout: '2h',
        key: 'delete',
        details: [{ title: 'Files', body: ['a', 'b'], as: 'json' }],
        links: [{ label: 'Folder', url: 'https://files.example/tmp' }],
        alternatives: [{ label: 'Archive instead', description: 'slower' }],
        risk: {
          level: 'critical',
          reasons: ['destructive'],
          reversible: false,
          impact: { affects: '3 files' },
        },
        history: { last: 2 },
      })
    })
    await using engine = await testEngine({ procedures: [rich] })
    const run = await engine.run(rich, undefined, { by: 'user:starter' })
    const ask = await engine.inbox.next({ run: run.id })
    expect(ask).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{16}$/),
      digest: expect.stringMatching(/^[0-9a-f]{32}$/),
      run: run.id,
      procedure: 'rich',
      position: 6,
      key: 'delete',
      kind: 'approve',
      status: 'open',
      message: 'Delete 3 files from /tmp? yes',
      params: { count: 3, dir: '/tmp' },
      editable: ['count'],
      schema: undefined,
      choices: [],
      decisions: [
        { value: 'approve', label: 'Approve', style: 'primary', confirm: 'word' },
        { value: 'reject', label: 'Reject', style: 'plain', confirm: 'none' },
      ],
      artifact: undefined,
      baseline: undefined,
      as: undefined,
      initial: undefined,
      severity: undefined,
      error: undefined,
      alsoStartedBy: [],
      alternatives: [{ label: 'Archive instead', description: 'slower' }],
      risk: {
        level: 'critical',
        reasons: ['destructive'],
        reversible: false,
        impact: { affects: '3 files' },
      },
      startedBy: 'user:starter',
      to: ['group:ops', 'user:bob'],
      details: [{ title: 'Files', body: ['a', 'b'], as: 'json' }],
      links: [{ label: 'Folder', url: 'https://files.example/tmp' }],
      history: [
        { step: 'five', result: { name: 'five' }, durationMs: 0 },
        { step: 'six', result: { name: 'six' }, durationMs: 0 },
      ],
      askedAt: new Date(start),
      dueAt: new Date(start + 2 * hour),
      onTimeout: 'counts as a rejection',
      overdue: false,
      claimedBy: undefined,
      answer: undefined,
    })
    expect(await engine.inbox.get(ask.id)).toEqual({ ...ask, deliveries: [] })
  })

  test.each([
    [undefined, ['two', 'three', 'four', 'five', 'six']],
    ['none' as const, []],
    [{ last: 3 }, ['four', 'five', 'six']],
    [{ last: 100 }, ['one', 'two', 'three', 'four', 'five', 'six']],
    [{ steps: ['six', 'two', 'nobody'] }, ['two', 'six']],
  ])('with history %j shows the steps %j, also after a crash', async (history, shown) => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      for (const name of ['one', 'two', 'three', 'four', 'five', 'six']) await ctx.step(name, () => name)
      await ctx.sleep('1h')
      await ctx.human.approve('Go on?', history === undefined ? {} : { history })
    })
    for (const crashes of [false, true]) {
      await using engine = await testEngine({ procedures: [asking] })
      const run = await engine.run(asking)
      await engine.advance('1m')
      if (crashes) await engine.crash()
      const ask = await engine.inbox.next({ run: run.id })
      expect(ask.history.map(({ step }) => step)).toEqual(shown)
    }
  })

  test('an approval shows the output of an agent without its usage', async () => {
    const writer = agent({ name: 'writer', input: z.void(), output: z.string() }, async (_, { usage }) => {
      usage({ costUsd: 3 })
      return 'a poem'
    })
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      await ctx.agent(writer, undefined)
      await ctx.human.approve('Go on?')
    })
    await using engine = await testEngine({ procedures: [asking] })
    await engine.crash('every')
    await engine.run(asking)
    expect((await engine.inbox.next()).history).toEqual([
      { step: 'writer', result: 'a poem', durationMs: expect.any(Number) },
    ])
  })

  test('an approval does not show failed steps', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      await ctx.step('good', () => 1)
      await ctx.step('bad', () => Promise.reject(new Error('no')), { retry: false }).catch(() => {})
      await ctx.human.approve('Go on?')
    })
    await using engine = await testEngine({ procedures: [asking] })
    await engine.run(asking)
    expect((await engine.inbox.next()).history).toEqual([{ step: 'good', result: 1, durationMs: 0 }])
  })

  test('an approved approval returns params, time, actor and comment', async () => {
    await using engine = await testEngine({ procedures: [refund] })
    const run = await engine.run(refund)
    const ask = await engine.inbox.next()
    await engine.advance('0s').catch(() => {})
    await engine.inbox.answer(ask.id, { approved: true, comment: 'fine' }, as)
    expect(await run.result()).toEqual({
      approved: true,
      params: { orderId: 'A-1', amount: 45, note: { reason: 'late' } },
      modified: false,
      by: 'user:ana',
      at: new Date(start),
      comment: 'fine',
    })
  })

  test('an approval with changed params returns all params and marks them as modified', async () => {
    await using engine = await testEngine({
      procedures: [refund],
      humans: [
        { ask: 'Refund 45 EUR for A-1?', answer: { approved: true, params: { amount: 40 } }, after: '10m' },
      ],
    })
    const run = await engine.run(refund)
    expect(await run.result()).toEqual({
      approved: true,
      params: { orderId: 'A-1', amount: 40, note: { reason: 'late' } },
      modified: true,
      by: 'user:test',
      at: new Date(start + 10 * minute),
      comment: undefined,
    })
    const { execution_log, replay_index } = await engine.log(run.id)
    expect(execution_log).toEqual([
      {
        position: 0,
        type: 'hitl_approval',
        name: 'approve',
        status: 'done',
        result: {
          approved: true,
          params: { orderId: 'A-1', amount: 40, note: { reason: 'late' } },
          changed: true,
          by: 'user:test',
          value: true,
          responded_at: '2026-01-01T00:10:00.000Z',
          timed_out: false,
        },
        timestamp: '2026-01-01T00:10:00.000Z',
        duration_ms: 10 * minute,
      },
    ])
    expect(replay_index).toBe(1)
  })

  test('an approval sent with unchanged params is not modified', async () => {
    const params = { orderId: 'A-1', amount: 45, note: { reason: 'late' } }
    await using engine = await testEngine({
      procedures: [refund],
      humans: [{ ask: 'Refund', answer: { approved: true, params } }],
    })
    expect(await (await engine.run(refund)).result()).toMatchObject({ modified: false })
  })

  test('a rejected approval is not a timeout', async () => {
    await using engine = await testEngine({
      procedures: [refund],
      humans: [{ ask: 'Refund', answer: { approved: false, comment: 'not today' }, as: 'user:bob' }],
    })
    expect(await (await engine.run(refund)).result()).toEqual({
      approved: false,
      timedOut: false,
      by: 'user:bob',
      at: new Date(start + 1_000),
      comment: 'not today',
    })
  })

  test('an approval that times out is rejected as timed out, at the time of the deadline', async () => {
    await using engine = await testEngine({
      procedures: [refund],
      humans: [{ ask: 'Refund', answer: 'silence' }],
    })
    const run = await engine.run(refund)
    expect(await run.result()).toEqual({
      approved: false,
      timedOut: true,
      by: undefined,
      at: new Date(start + hour),
      comment: undefined,
    })
    expect((await engine.log(run.id)).execution_log).toEqual([
      {
        position: 0,
        type: 'hitl_approval',
        name: 'approve',
        status: 'done',
        result: {
          approved: false,
          params: { orderId: 'A-1', amount: 45, note: { reason: 'late' } },
          value: false,
          responded_at: '2026-01-01T01:00:00.000Z',
          timed_out: true,
        },
        timestamp: '2026-01-01T01:00:00.000Z',
        duration_ms: hour,
      },
    ])
    expect((await engine.inbox.list({ status: 'timed-out' })).items).toMatchObject([
      { status: 'timed-out', overdue: false },
    ])
  })

  test('an open approval is logged with result null', async () => {
    await using engine = await testEngine({
      procedures: [refund],
      humans: [{ ask: 'Refund', answer: 'silence' }],
    })
    const run = await engine.run(refund)
    await engine.advance('59m')
    expect(await engine.log(run.id)).toEqual({
      procedure_id: run.id,
      generation: 1,
      execution_log: [
        {
          position: 0,
          type: 'hitl_approval',
          name: 'approve',
          status: 'open',
          result: null,
          timestamp: '2026-01-01T00:00:00.000Z',
          duration_ms: 0,
        },
      ],
      replay_index: 0,
    })
    const askId = (await engine.inbox.next()).id
    expect(await run.status()).toMatchObject({
      status: 'waiting',
      waitingFor: [{ kind: 'ask', name: 'approve', position: 0, ask: askId, until: new Date(start + hour) }],
    })
  })
})

describe('an invalid answer', () => {
  const wrong: readonly [string, unknown, string][] = [
    ['nothing', {}, 'approved'],
    ['text', 'yes', ''],
    ['a choice', { choice: 'approve' }, 'choice'],
    ['approved as text', { approved: 'true' }, 'approved'],
    ['a locked param', { approved: true, params: { orderId: 'A-2' } }, 'params.orderId'],
    ['an unknown param', { approved: true, params: { bonus: 1 } }, 'params.bonus'],
    [
      'a prototype',
      { approved: true, params: JSON.parse('{"__proto__": {"admin": true}}') },
      'params.__proto__',
    ],
    ['a nested lock', { approved: true, params: { note: { reason: 'other' } } }, 'params.note'],
    ['a type', { approved: true, params: { amount: '40' } }, 'params.amount'],
    ['too much', { approved: true, params: { amount: 101 } }, 'params.amount'],
    ['params with a no', { approved: false, params: { amount: 40 } }, 'params'],
    ['a comment that is no text', { approved: true, comment: 5 }, 'comment'],
    ['an unknown field', { approved: true, sudo: true }, 'sudo'],
  ]
  test.each(wrong)(
    'with %s is refused, naming the field, and the question stays',
    async (_, answer, path) => {
      await using engine = await testEngine({
        procedures: [refund],
        humans: [{ ask: 'Refund', answer: 'silence' }],
      })
      const run = await engine.run(refund)
      const ask = await engine.inbox.next()
      const refusal = await refusalOf(engine.inbox.answer(ask.id, answer as { approved: true }, as))
      expect(refusal).toMatchObject({
        code: 'answer-invalid',
        details: { issues: [{ path: expect.stringContaining(path) }] },
      })
      expect(await engine.inbox.get(ask.id)).toEqual({ ...ask, deliveries: [] })
      expect((await engine.log(run.id)).replay_index).toBe(0)
      await engine.inbox.answer(ask.id, { approved: true }, as)
      expect(await run.result()).toMatchObject({ approved: true })
    },
  )

  test('an answer that is too large to store is refused as payload-invalid', async () => {
    await using engine = await testEngine({ procedures: [refund] })
    await engine.run(refund)
    const ask = await engine.inbox.next()
    const refusal = await refusalOf(
      engine.inbox.answer(ask.id, { approved: true, comment: 'x'.repeat(10 * 1024 * 1024) }, as),
    )
    expect(refusal.code).toBe('payload-refused')
    expect((await engine.inbox.get(ask.id))?.status).toBe('open')
  })

  test.each(['agent:helper', 'policy:auto', 'system:cron'])('by %s is forbidden', async (actor) => {
    await using engine = await testEngine({ procedures: [refund] })
    await engine.run(refund)
    const ask = await engine.inbox.next()
    expect(
      await refusalOf(engine.inbox.answer(ask.id, { approved: true }, { as: actor as Actor })),
    ).toMatchObject({
      code: 'answer-forbidden',
      details: { ask: ask.id },
    })
    expect((await engine.inbox.get(ask.id))?.status).toBe('open')
    // Where it is not open any more, that is what is said.
    await engine.inbox.answer(ask.id, { approved: true }, as)
    expect(
      await refusalOf(engine.inbox.answer(ask.id, { approved: true }, { as: actor as Actor })),
    ).toMatchObject({ code: 'ask-closed', details: { status: 'answered' } })
  })

  test('an answer without an actor, or with an actor without a scheme, is refused', async () => {
    await using engine = await testEngine({ procedures: [refund] })
    await engine.run(refund)
    const ask = await engine.inbox.next()
    for (const actor of [undefined, '', 'ana', 'user:'] as unknown as Actor[])
      expect((await refusalOf(engine.inbox.answer(ask.id, { approved: true }, { as: actor }))).code).toBe(
        'option-invalid',
      )
  })

  test.each(['nobody/0', 'nobody', '', '/0', 'a/-1', 'a/b'])('to %j finds no ask', async (id) => {
    await using engine = await testEngine({ procedures: [refund] })
    expect((await refusalOf(engine.inbox.answer(id, { approved: true }, as))).code).toBe('ask-not-found')
    expect(await engine.inbox.get(id)).toBeNull()
  })

  const even = z
    .object({ amount: z.number() })
    .refine(({ amount }) => amount % 2 === 0, { message: 'must be even', path: ['amount'] })
  const pay = (amount: number) =>
    procedure({ name: 'picky' }, (ctx) =>
      ctx.human.approve('Pay {amount}?', { params: { amount }, editable: ['amount'], schema: even }),
    )

  test('an answer that only the schema itself can refuse is refused while the run is in memory, and can be corrected', async () => {
    const picky = pay(2)
    await using engine = await testEngine({ procedures: [picky] })
    const run = await engine.run(picky)
    const ask = await engine.inbox.next()
    const answer = (amount: number) =>
      engine.inbox.answer(ask.id, { approved: true, params: { amount } }, { as: 'user:ana' })
    await expect(answer(3)).rejects.toMatchObject({
      code: 'answer-invalid',
      details: { issues: [{ path: 'params.amount', message: 'must be even' }] },
    })
    await answer(4)
    expect(await run.result()).toMatchObject({ params: { amount: 4 }, modified: true })
  })

  test('an answer that only the schema itself can refuse rejects the operation if the run is elsewhere, and stays in the log', async () => {
    const picky = pay(2)
    const store = memory()
    await using engine = await testEngine({ procedures: [picky], store })
    const run = await engine.run(picky)
    const ask = await engine.inbox.next()
    const client = createClient({ store })
    await client.inbox.answer(ask.id, { approved: true, params: { amount: 3 } }, { as: 'user:ana' })
    await client.stop()
    await expect(run.result()).rejects.toMatchObject({
      details: {
        cause: {
          code: 'answer-invalid',
          message: expect.stringContaining('It was accepted and recorded'),
        },
      },
    })
    const [entry] = (await engine.log(run.id)).execution_log
    expect(entry).toMatchObject({
      status: 'failed',
      result: {
        error: { code: 'answer-invalid', message: expect.stringContaining('params.amount: must be even') },
        approved: true,
        params: { amount: 3 },
        by: 'user:ana',
      },
    })
  })

  test('an answer is validated by the schema of its ask, not by the schema of a later deploy', async () => {
    const asking = (schema: z.ZodType) =>
      procedure({ name: 'asking', signals: { go: z.void() } }, async (ctx) => {
        const answered = ctx.human.input('How many?', schema).catch((error: { code: string }) => error.code)
        await ctx.receive('go')
        return answered
      })
    const store = memory()
    const before = await testEngine({ procedures: [asking(z.string())], store })
    const { id } = await before.run(asking(z.string()))
    const ask = await before.inbox.next()
    await before.stop()
    await using engine = await testEngine({
      procedures: [asking(z.number())],
      store,
      humans: [{ ask: /./, answer: 'silence' }],
    })
    await engine.get(asking(z.number()), id).signal('go', undefined)
    await engine.advance('1s')
    await engine.inbox.answer(ask.id, { value: 'x' }, as)
    expect(await engine.get(id).result()).toBe('x')
  })

  test('an invalid answer is found by one validation, on a copy', async () => {
    const codes = new Set(['123'])
    const checks: unknown[] = []
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.input(
        'Which code?',
        z.object({ code: z.string() }).refine((given) => checks.push(given) && codes.delete(given.code)),
      ),
    )
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next()
    const value = Object.freeze({ code: '123' })
    await engine.inbox.answer(ask.id, { value }, as)
    expect(await run.result()).toEqual({ code: '123' })
    expect(checks).toHaveLength(1)
    const [entry] = (await engine.log(run.id)).execution_log
    expect(JSON.stringify(entry)).not.toContain('checked')
  })

  test.each([{ approved: true }, { approved: true, params: { amount: 3 } }] as const)(
    'is none that leaves what was shown as it is, whatever the schema says: %o',
    async (answer) => {
      const odd = pay(3)
      await using engine = await testEngine({ procedures: [odd], humans: [{ ask: 'Pay', answer }] })
      const run = await engine.run(odd)
      expect(await run.result()).toMatchObject({ approved: true, params: { amount: 3 }, modified: false })
    },
  )
})

describe('a timeout', () => {
  test('a timeout begins when the ask is stored, without the time of an outage', async () => {
    const risky = procedure({ name: 'risky' }, (ctx) =>
      ctx.human.approve('Delete it?', { timeout: '1m', risk: 'low', onTimeout: 'approve' }),
    )
    const store = memory()
    const client = createClient({ store })
    const { id } = await client.run(ref<typeof risky>('risky'))
    await client.stop()
    await using engine = await testEngine({
      ...{ procedures: [risky], store, now: new Date(Date.now() + hour) },
      humans: [{ ask: 'Delete', answer: { approved: false }, after: '30s' }],
    })
    expect(await engine.get(risky, id).result()).toMatchObject({ approved: false, timedOut: false })
    const [ask] = (await engine.inbox.list({ status: 'answered' })).items
    expect((ask?.dueAt?.getTime() ?? 0) - (ask?.askedAt.getTime() ?? 0)).toBe(minute)
  })
})

test('an expired ask refuses every answer, without advice to retry', async () => {
  const short = procedure({ name: 'short' }, (ctx) => ctx.human.approve('Now?', { timeout: '1h' }))
  const store = memory()
  const engine = await testEngine({ procedures: [short], store, humans: [{ ask: 'Now', answer: 'silence' }] })
  await engine.run(short)
  await engine.advance('1m')
  const [open] = (await engine.inbox.list()).items
  await engine.stop()
  // Nobody works: its end is recorded by nobody.
  await using client = await testEngine({
    procedures: [],
    store,
    humans: [{ ask: 'Now', answer: 'silence' }],
  })
  await client.advance('2h')
  const ask = open?.id ?? ''
  expect(await client.inbox.get(ask)).toMatchObject({ status: 'timed-out', overdue: false })
  for (const [answer, actor] of [
    [{ choice: 'x' }, 'user:ana'],
    [{ approved: true }, 'agent:helper'],
  ] as const)
    expect(await refusalOf(client.inbox.answer(ask, answer, { as: actor }))).toMatchObject({
      code: 'ask-closed',
      details: { status: 'timed-out' },
    })
})

describe('one winner', () => {
  test('of a hundred concurrent answers one wins, and the others are told the winner', async () => {
    await using engine = await testEngine({ procedures: [refund] })
    const run = await engine.run(refund)
    const ask = await engine.inbox.next()
    const people = Array.from({ length: 100 }, (_, index): Actor => `user:${index}`)
    const outcomes = await Promise.allSettled(
      people.map((actor, index) => engine.inbox.answer(ask.id, { approved: index % 2 === 0 }, { as: actor })),
    )
    const won = people.filter((_, index) => outcomes[index]?.status === 'fulfilled')
    expect(won).toHaveLength(1)
    for (const outcome of outcomes)
      if (outcome.status === 'rejected')
        expect(outcome.reason).toMatchObject({
          code: 'ask-closed',
          details: { status: 'answered', winner: { by: won[0], at: new Date(start) } },
        })
    expect((await run.result()).by).toBe(won[0])
    expect((await engine.log(run.id)).execution_log).toHaveLength(1)
  })

  test('a repeated answer counts once, and its sender is told that it won', async () => {
    await using engine = await testEngine({ procedures: [refund] })
    const run = await engine.run(refund)
    const ask = await engine.inbox.next()
    const send = () => engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    await send()
    const reported = {
      code: 'ask-closed',
      details: { status: 'answered', winner: { by: 'user:ana', at: new Date(start) } },
    }
    expect(await refusalOf(send())).toMatchObject(reported)
    expect(await run.result()).toMatchObject({ approved: true, by: 'user:ana' })
    expect(await refusalOf(send())).toMatchObject(reported)
    expect((await engine.log(run.id)).execution_log).toHaveLength(1)
  })

  test.each([
    ['a millisecond before', -1, true],
    ['at', 0, false],
    ['a millisecond after', 1, false],
  ])('an answer %s the deadline', async (_, offset, wins) => {
    await using engine = await testEngine({
      procedures: [refund],
      humans: [{ ask: 'Refund', answer: 'silence' }],
    })
    const run = await engine.run(refund)
    const ask = await engine.inbox.next()
    if (offset < 0) await engine.advance(`${hour + offset}ms`)
    else await engine.advance(`${hour + offset}ms`)
    const answered = await engine.inbox.answer(ask.id, { approved: true }, as).then(
      () => true,
      (error) => {
        expect(error).toMatchObject({
          code: 'ask-closed',
          details: { status: 'timed-out', winner: undefined },
        })
        return false
      },
    )
    expect(answered).toBe(wins)
    const approval: Approval<object> = await run.result()
    expect(approval.approved).toBe(wins)
    expect((await engine.log(run.id)).execution_log).toHaveLength(1)
  })

  test('an answer in time wins even if the worker sees it after the deadline', async () => {
    const store = (await import('@pawl/testing')).memory()
    const first = await testEngine({
      procedures: [refund],
      store,
      humans: [{ ask: 'Refund', answer: 'silence' }],
    })
    const run = await first.run(refund)
    await first.advance('59m')
    await first.stop()
    const idle = await testEngine({ procedures: [], store, humans: [{ ask: 'Refund', answer: 'silence' }] })
    await idle.inbox.answer(`${run.id}/0`, { approved: true }, as)
    await idle.advance('5h')
    await idle.stop()
    await using later = await testEngine({ procedures: [refund], store })
    expect(await later.get(refund, run.id).result()).toMatchObject({
      approved: true,
      at: new Date(start + 59 * minute),
    })
  })

  test('an answer after the end is refused and changes nothing', async () => {
    const both = procedure({ name: 'both' }, async (ctx) => {
      await Promise.race([ctx.human.approve('Really?'), ctx.sleep('1h')])
    })
    await using engine = await testEngine({
      procedures: [both],
      humans: [{ ask: 'Really', answer: 'silence' }],
    })
    const run = await engine.run(both)
    await run.result()
    const before = await engine.log(run.id)
    expect(await refusalOf(engine.inbox.answer(`${run.id}/0`, { approved: true }, as))).toMatchObject({
      code: 'ask-closed',
      details: { status: 'withdrawn', winner: undefined },
    })
    expect(await engine.log(run.id)).toEqual(before)
    expect(before.execution_log).toMatchObject([
      { position: 0, status: 'withdrawn', result: {} },
      { position: 1, status: 'done' },
    ])
    expect((await engine.inbox.list()).items).toEqual([])
    expect((await engine.inbox.list({ status: 'withdrawn' })).items).toHaveLength(1)
  })
})

describe('edits without a schema keep the types of the shown values', () => {
  const shown = { amount: 45, note: { reason: 'late' }, tags: ['a'], due: new Date(0), limit: null, big: 5n }
  const editable = ['amount', 'note', 'tags', 'due', 'limit', 'big'] as const
  const pay = procedure({ name: 'pay' }, (ctx) => ctx.human.approve('Pay?', { params: shown, editable }))

  test.each<[params: object, path: string]>([
    [{ amount: 'seven' }, 'params.amount'],
    [{ amount: undefined }, 'params.amount'],
    [{ note: { reason: 5 } }, 'params.note.reason'],
    [{ note: {} }, 'params.note.reason'],
    [{ note: { reason: 'x', by: 'me' } }, 'params.note.by'],
    [{ tags: ['a', 1] }, 'params.tags[1]'],
    [{ due: '2027-01-01' }, 'params.due'],
    [{ limit: 5 }, 'params.limit'],
    [{ big: 5 }, 'params.big'],
  ])('%j is refused, wherever it comes in, and the question stays', async (params, path) => {
    const store = memory()
    await using engine = await testEngine({ procedures: [pay], store })
    const run = await engine.run(pay)
    const ask = await engine.inbox.next()
    const client = createClient({ store })
    for (const door of [engine, client])
      expect(await refusalOf(door.inbox.answer(ask.id, { approved: true, params }, as))).toMatchObject({
        code: 'answer-invalid',
        details: { issues: [{ path }] },
      })
    await client.stop()
    const changed = { amount: 40, note: { reason: 'x' }, tags: [], due: new Date(5), big: 6n }
    await engine.inbox.answer(ask.id, { approved: true, params: changed }, as)
    expect(await run.result()).toMatchObject({ params: { ...changed, limit: null }, modified: true })
  })

  test('an early edit without a schema keeps the types of the shown values', async () => {
    const { logger, lines } = keepLines()
    const late = procedure({ name: 'late' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.human.approve('Pay?', { key: 'pay', params: { amount: 45 }, editable: ['amount'] })
    })
    const humans = [{ ask: 'Pay?', answer: { approved: true } }] as const
    await using engine = await testEngine({ procedures: [late], logger, humans })
    const run = await engine.run(late)
    await engine.inbox.answer({ run: run.id, key: 'pay' }, { approved: true, params: { amount: 'x' } }, as)
    expect(await run.result()).toMatchObject({ params: { amount: 45 }, modified: false, by: 'user:test' })
    expect(lines).toContainEqual(
      expect.objectContaining({
        fields: expect.objectContaining({ issues: [expect.objectContaining({ path: 'params.amount' })] }),
      }),
    )
  })

  test('an edited artifact without a schema keeps the types of the shown artifact', async () => {
    const publish = procedure({ name: 'publish' }, (ctx) =>
      ctx.human.review('Publish?', { title: 'Old', words: 3 }, { editable: true }),
    )
    await using engine = await testEngine({ procedures: [publish] })
    const run = await engine.run(publish)
    const ask = await engine.inbox.next()
    const answer = (artifact: unknown) => engine.inbox.answer(ask.id, { choice: 'approve', artifact }, as)
    for (const [artifact, path] of [
      ['text', 'artifact'],
      [{ title: 'New' }, 'artifact.words'],
      [{ title: 'New', words: 'three' }, 'artifact.words'],
    ])
      expect(await refusalOf(answer(artifact))).toMatchObject({
        code: 'answer-invalid',
        details: { issues: [{ path }] },
      })
    await answer({ title: 'New', words: 4 })
    expect(await run.result()).toMatchObject({ artifact: { title: 'New', words: 4 }, edited: true })
  })

  test('with a schema, only the schema decides which edits are valid, even without a JSON Schema', async () => {
    const loose: Schema<{ amount: number | string }> = {
      '~standard': { version: 1, vendor: 'loose', validate: (value: unknown) => ({ value }) },
    }
    for (const schema of [loose, z.object({ amount: z.union([z.number(), z.string()]) })]) {
      const any = procedure({ name: 'any' }, (ctx) =>
        ctx.human.approve('Pay?', {
          params: { amount: 45 as number | string },
          editable: ['amount'],
          schema,
        }),
      )
      await using engine = await testEngine({ procedures: [any] })
      const run = await engine.run(any)
      const ask = await engine.inbox.next()
      await engine.inbox.answer(ask.id, { approved: true, params: { amount: 'seven' } }, as)
      expect(await run.result()).toMatchObject({ params: { amount: 'seven' } })
    }
  })
})
