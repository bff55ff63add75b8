import { type Answer, type Client, createClient, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf, start } from './support.ts'

const as = { as: 'user:ana' } as const

describe('input', () => {
  const form = z.object({ name: z.string().min(2), age: z.number().int().min(0).optional() })
  const asking = procedure({ name: 'asking' }, (ctx) =>
    ctx.human.input('Who are you?', form, { initial: { name: 'Ada' } }),
  )

  test('input returns a value that is valid by the schema', async () => {
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next()
    expect(ask).toMatchObject({
      kind: 'input',
      initial: { name: 'Ada' },
      onTimeout: undefined,
      editable: [],
      choices: [],
    })
    expect(ask.schema).toMatchObject({
      type: 'object',
      properties: { name: { type: 'string', minLength: 2 } },
    })
    for (const [answer, path] of [
      [{ value: { name: 'A' } }, 'value.name'],
      [{ value: { name: 'Ada', age: 1.5 } }, 'value.age'],
      [{ value: 5 }, 'value'],
      [{}, 'value'],
      [{ approved: true }, 'approved'],
    ] as const)
      expect(await refusalOf(engine.inbox.answer(ask.id, answer as { value: unknown }, as))).toMatchObject({
        code: 'answer-invalid',
        details: { issues: [{ path }] },
      })
    await engine.inbox.answer(ask.id, { value: { name: 'Ada', age: 36 }, comment: 'me' }, as)
    expect(await run.result()).toEqual({ name: 'Ada', age: 36 })
    expect((await engine.log(run.id)).execution_log).toMatchObject([
      {
        type: 'hitl_input',
        result: {
          value: { name: 'Ada', age: 36 },
          comment: 'me',
          by: 'user:ana',
          responded_at: '2026-01-01T00:00:00.000Z',
          timed_out: false,
        },
      },
    ])
  })

  test('input accepts any schema, and falsy values', async () => {
    const odd = procedure({ name: 'odd' }, async (ctx) => [
      await ctx.human.input('A number?', z.number()),
      await ctx.human.input('A truth?', z.boolean()),
      await ctx.human.input('A text?', z.string()),
      await ctx.human.input('Nothing?', z.null()),
    ])
    await using engine = await testEngine({
      procedures: [odd],
      humans: [
        { ask: 'number', answer: { value: 0 } },
        { ask: 'truth', answer: { value: false } },
        { ask: 'text', answer: { value: '' } },
        { ask: 'Nothing', answer: { value: null } },
      ],
    })
    expect(await (await engine.run(odd)).result()).toEqual([0, false, '', null])
  })

  test('input refuses a schema that transforms, in the call', async () => {
    const wrong = procedure({ name: 'wrong' }, (ctx) =>
      ctx.human.input('When?', z.string().transform(Number)),
    )
    await using engine = await testEngine({ procedures: [wrong] })
    await expect((await engine.run(wrong)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })
})

describe('select', () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    const env = await ctx.human.select('Where to?', [
      'staging',
      { value: 'production', label: 'Production!', effect: 'Everybody sees it', style: 'danger' },
    ])
    return { env }
  })

  test('select returns the selected value', async () => {
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next()
    expect(ask.choices).toEqual([
      { value: 'staging', label: 'staging', effect: undefined },
      { value: 'production', label: 'Production!', effect: 'Everybody sees it', style: 'danger' },
    ])
    expect(await refusalOf(engine.inbox.answer(ask.id, { choice: 'moon' }, as))).toMatchObject({
      code: 'answer-invalid',
      details: { issues: [{ path: 'choice', message: 'must be one of staging, production' }] },
    })
    expect((await refusalOf(engine.inbox.answer(ask.id, { choice: 'staging', artifact: 1 }, as))).code).toBe(
      'answer-invalid',
    )
    await engine.inbox.answer(ask.id, { choice: 'production' }, as)
    expect(await run.result()).toEqual({ env: 'production' })
    expect((await engine.log(run.id)).execution_log).toMatchObject([
      {
        type: 'hitl_select',
        name: 'select',
        result: { choice: 'production', by: 'user:ana', timed_out: false },
      },
    ])
  })
})

test('an optional input may be left empty, in every place of an answer', async () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => [
    await ctx.human.input('Note?', z.string().optional()),
    await ctx.human.input('Size?', z.string().default('M')),
    await ctx.human.input('Name?', z.string()),
  ])
  const store = memory()
  await using engine = await testEngine({ procedures: [asking], store })
  const client = createClient({ store })
  const answerAll = async (by: Pick<Client, 'inbox'>): Promise<unknown> => {
    const run = await engine.run(asking)
    for (const answer of [{}, { value: undefined }]) {
      const { id } = await engine.inbox.next()
      await by.inbox.answer(id, answer as Answer, as)
    }
    const { id } = await engine.inbox.next()
    expect((await refusalOf(by.inbox.answer(id, {} as Answer, as))).code).toBe('answer-invalid')
    await by.inbox.answer(id, { value: 'Ada' }, as)
    return run.result()
  }
  expect(await answerAll(engine)).toEqual([undefined, 'M', 'Ada'])
  expect(await answerAll(client)).toEqual([undefined, 'M', 'Ada'])
  await client.stop()
})

describe('review', () => {
  const post = { title: 'Hello', tags: ['a'] }
  const asking = procedure({ name: 'asking' }, (ctx) =>
    ctx.human.review('Publish this?', post, {
      editable: true,
      choices: ['publish', 'drop'],
      baseline: { title: 'Hi', tags: [] },
      as: 'json',
      schema: z.object({ title: z.string().max(10), tags: z.array(z.string()) }),
    }),
  )

  test('review shows the artifact and returns verdict and edits', async () => {
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next()
    expect(ask).toMatchObject({
      kind: 'review',
      artifact: post,
      baseline: { title: 'Hi', tags: [] },
      as: 'json',
      editable: ['artifact'],
    })
    const tooLong = { choice: 'publish', artifact: { title: 'Hello, dear world', tags: [] } }
    expect(await refusalOf(engine.inbox.answer(ask.id, tooLong, as))).toMatchObject({
      code: 'answer-invalid',
      details: { issues: [{ path: 'artifact.title' }] },
    })
    await engine.inbox.answer(
      ask.id,
      { choice: 'publish', artifact: { title: 'Hey', tags: ['b'] }, comment: 'shorter' },
      as,
    )
    expect(await run.result()).toEqual({
      choice: 'publish',
      artifact: { title: 'Hey', tags: ['b'] },
      edited: true,
      by: 'user:ana',
      at: new Date(start),
      comment: 'shorter',
    })
  })

  test('review without edits returns the artifact as shown', async () => {
    await using engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: 'Publish', answer: { choice: 'drop' } }],
    })
    expect(await (await engine.run(asking)).result()).toMatchObject({
      choice: 'drop',
      artifact: post,
      edited: false,
    })
  })

  test('review offers approve and reject by default, and refuses edits if they are not allowed', async () => {
    const plain = procedure({ name: 'plain' }, (ctx) => ctx.human.review('Good?', 'text'))
    await using engine = await testEngine({ procedures: [plain] })
    const run = await engine.run(plain)
    const ask = await engine.inbox.next()
    expect(ask.choices.map(({ value }) => value)).toEqual(['approve', 'reject'])
    expect(
      await refusalOf(engine.inbox.answer(ask.id, { choice: 'approve', artifact: 'other' }, as)),
    ).toMatchObject({
      details: { issues: [{ path: 'artifact', message: 'cannot be changed' }] },
    })
    await engine.inbox.answer(ask.id, { choice: 'reject', artifact: 'text' }, as)
    expect(await run.result()).toMatchObject({ choice: 'reject', edited: false })
  })
})

describe('escalate', () => {
  const stuck = procedure({ name: 'stuck' }, async (ctx) => {
    const error = await ctx
      .step('sum', () => Promise.reject(new RangeError('totals differ')), { retry: false })
      .catch((caught) => caught)
    return ctx.human.escalate('Totals differ', { choices: ['retry', 'abort'], error, severity: 'critical' })
  })

  test('escalate waits without a limit until a person resolves it', async () => {
    await using engine = await testEngine({
      procedures: [stuck],
      humans: [{ ask: 'Totals', answer: 'silence' }],
    })
    const run = await engine.run(stuck)
    await engine.advance('3650d')
    const ask = await engine.inbox.next()
    expect(ask).toMatchObject({
      kind: 'escalate',
      severity: 'critical',
      error: {
        ...{ name: 'PawlError', code: 'step-failed' },
        message: "Step 'sum' failed after 1 attempt: RangeError: totals differ. The failure is recorded.",
      },
      dueAt: undefined,
      onTimeout: undefined,
      overdue: false,
    })
    await engine.inbox.answer(ask.id, { choice: 'retry', comment: 'again' }, as)
    expect(await run.result()).toEqual({
      choice: 'retry',
      by: 'user:ana',
      at: new Date(start + 3650 * 86_400_000),
      comment: 'again',
    })
    expect((await engine.log(run.id)).execution_log[1]).toMatchObject({
      type: 'hitl_escalation',
      name: 'escalate',
    })
  })

  test('escalate offers to continue by default, and has no timeout', async () => {
    const plain = procedure({ name: 'plain' }, (ctx) => ctx.human.escalate('Help'))
    const timed = procedure({ name: 'timed' }, (ctx) =>
      ctx.human.escalate('Help', { timeout: '1h' } as object),
    )
    await using engine = await testEngine({
      procedures: [plain, timed],
      humans: [{ ask: 'Help', answer: { choice: 'continue' } }],
    })
    expect(await (await engine.run(plain)).result()).toMatchObject({ choice: 'continue' })
    await expect((await engine.run(timed)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })
})

describe('notify', () => {
  test('notify adds a log line and an entry of the log, and does not wait', async () => {
    const telling = procedure({ name: 'telling' }, async (ctx) => {
      await ctx.human.notify('Order {id} is out', {
        data: { id: 7 },
        to: 'group:sales',
        severity: 'warning',
        links: [{ label: 'Order', url: 'https://shop.example/7' }],
      })
      await ctx.sleep('1h')
    })
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [telling], logger })
    const run = await engine.run(telling)
    await engine.advance('1m')
    await engine.crash()
    await run.result()
    expect(lines.filter(({ message }) => message.includes('Order'))).toEqual([
      {
        level: 'warn',
        message: 'Order 7 is out',
        fields: expect.objectContaining({ run: run.id, to: ['group:sales'], severity: 'warning' }),
      },
    ])
    expect((await engine.log(run.id)).execution_log[0]).toMatchObject({
      type: 'hitl_notification',
      name: 'notify',
      status: 'done',
      result: { message: 'Order 7 is out', to: ['group:sales'], severity: 'warning' },
    })
    expect((await engine.inbox.list()).items).toEqual([])
  })
})

describe('questions together', () => {
  test('questions asked in one turn are open together, and may be answered in reverse', async () => {
    const both = procedure({ name: 'both' }, async (ctx) => {
      const order: string[] = []
      const [ok, env] = await Promise.all([
        ctx.human.approve('Release?').then((approval) => {
          order.push('ok')
          return approval.approved
        }),
        ctx.human.select('Where?', ['a', 'b']).then((picked) => {
          order.push('env')
          return picked
        }),
      ])
      return { ok, env, order }
    })
    await using engine = await testEngine({ procedures: [both], humans: [{ ask: /./, answer: 'silence' }] })
    const run = await engine.run(both)
    await engine.advance('1m')
    expect((await run.status()).waitingFor).toMatchObject([
      { kind: 'ask', ask: (await engine.inbox.get(`${run.id}/0`))?.id },
      { kind: 'ask', ask: (await engine.inbox.get(`${run.id}/1`))?.id },
    ])
    await engine.inbox.answer(`${run.id}/1`, { choice: 'b' }, as)
    await engine.advance('1m')
    await engine.inbox.answer(`${run.id}/0`, { approved: true }, as)
    expect(await run.result()).toEqual({ ok: true, env: 'b', order: ['env', 'ok'] })
  })

  test('a hundred questions in a loop are asked and answered once each', async () => {
    const loop = procedure({ name: 'loop' }, async (ctx) => {
      let sum = 0
      for (let index = 0; index < 100; index++) sum += await ctx.human.input(`Number ${index}?`, z.number())
      return sum
    })
    let asked = 0
    await using engine = await testEngine({
      procedures: [loop],
      humans: [
        {
          ask: 'Number',
          answer: ({ message }) => {
            asked++
            return { value: Number(/\d+/.exec(message)?.[0]) }
          },
        },
      ],
    })
    expect(await (await engine.run(loop)).result()).toBe(4_950)
    expect(asked).toBe(100)
  })

  test('a race between an approval, a timer and a signal closes the losers when the run ends', async () => {
    const race = procedure({ name: 'race', signals: { stop: z.void() } }, async (ctx) => {
      const winner = await Promise.race([
        ctx.human.approve('Go?').then(() => 'approval'),
        ctx.sleep('1h').then(() => 'timer'),
        ctx.receive('stop').then(() => 'signal'),
      ])
      await ctx.step('after', () => 1)
      return winner
    })
    for (const crashes of [false, true]) {
      await using engine = await testEngine({
        procedures: [race],
        humans: [{ ask: 'Go', answer: 'silence' }],
      })
      if (crashes) await engine.crash('every')
      const run = await engine.run(race)
      await engine.advance('30m')
      await run.signal('stop')
      expect(await run.result()).toBe('signal')
      expect((await engine.log(run.id)).execution_log.map(({ type, status }) => [type, status])).toEqual([
        ['hitl_approval', 'withdrawn'],
        ['signal', 'done'],
        ['step', 'done'],
      ])
      expect((await engine.inbox.list()).items).toEqual([])
      expect(await run.status()).toMatchObject({
        leftOver: {
          operations: [
            { position: 0, name: 'approve' },
            { position: 1, name: 'sleep' },
          ],
        },
      })
    }
  })
})

describe('messages', () => {
  test('messages fill placeholders from params and data, once, and leave other braces unchanged', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.approve('{a} {b} {c} {d} {e} {{a}} {unknown} {', {
        params: { a: '{b}', b: 2, more: {} },
        data: { c: true, d: new Date(0), e: null, unknown: '{a}' },
      } as never),
    )
    await using engine = await testEngine({ procedures: [asking] })
    await engine.run(asking)
    expect((await engine.inbox.next()).message).toBe('{b} 2 true 1970-01-01T00:00:00.000Z null {{b}} {a} {')
  })

  test('messages use data for params that cannot be shown in a sentence', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.approve('Run {tool} with {args}?', {
        params: { tool: 'delete', args: ['a', 'b'] },
        data: { tool: 'another', args: 'a and b' },
      }),
    )
    await using engine = await testEngine({ procedures: [asking] })
    await engine.run(asking)
    expect(await engine.inbox.next()).toMatchObject({
      message: 'Run delete with a and b?',
      params: { tool: 'delete', args: ['a', 'b'] },
    })
  })

  test('messages show objects as they were at the call', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const params: { amount: number; close?: unknown } = { amount: 0 }
      const asks = [10, 20].map((amount) => {
        params.amount = amount
        return ctx.human.approve('Pay {amount}?', { params })
      })
      params.close = () => {}
      return (await Promise.all(asks)).map((approval) => approval.approved && approval.params.amount)
    })
    await using engine = await testEngine({
      procedures: [asking],
      humans: [
        {
          ask: /Pay/,
          answer: (ask) => ({
            approved: ask.message === `Pay ${(ask.params as { readonly amount: number }).amount}?`,
          }),
        },
      ],
    })
    expect(await (await engine.run(asking)).result()).toEqual([10, 20])
  })

  test('messages refuse a value that cannot be shown in a sentence', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) =>
      ctx.human.approve('{a}', { params: { a: {} } } as never),
    )
    await using engine = await testEngine({ procedures: [asking] })
    await expect((await engine.run(asking)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })

  test('a message is refused without taking a position if its material cannot be stored', async () => {
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      const refused = await Promise.resolve()
        .then(() => ctx.human.review('See?', { open: () => {} }))
        .catch((error: { readonly code: string; readonly details: unknown }) => ({
          code: error.code,
          details: error.details,
        }))
      await ctx.step('next', () => 1)
      return refused
    })
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking)
    expect(await run.result()).toEqual({ code: 'payload-refused', details: { path: 'review.artifact.open' } })
    expect((await engine.log(run.id)).execution_log).toMatchObject([{ position: 0, name: 'next' }])
  })
})
