import { decider, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf, start } from './support.ts'

const as = { as: 'user:ana' } as const

const publish = procedure({ name: 'publish' }, async (ctx) => {
  await ctx.sleep('1h')
  return ctx.human.approve('Publish {title}?', {
    key: 'publish',
    params: { title: 'Hello' },
    editable: ['title'],
  })
})

test('an early answer to a question that is never asked is logged', async () => {
  const judge = decider('judge', async () => ({ choice: 'a', rationale: 'clear', confidence: 1 }))
  const deciding = procedure({ name: 'deciding' }, async (ctx) => {
    const { choice } = await ctx.agent.decide('a or b?', ['a', 'b'], {
      agent: judge,
      key: 'k',
      fallback: 'b',
    })
    await ctx.sleep('1h')
    return choice
  })
  const { logger, lines } = keepLines()
  await using engine = await testEngine({ procedures: [deciding], logger })
  const run = await engine.run(deciding)
  await engine.advance('1m')
  await engine.inbox.answer({ run: run.id, key: 'k' }, { choice: 'b' }, as)
  expect(await run.result()).toBe('a')
  expect(lines).toMatchObject([
    {
      level: 'warn',
      message: `Run "${run.id}" has ended with an answer to "k", which it never asked`,
    },
  ])
  expect(await refusalOf(engine.inbox.answer({ run: run.id, key: 'k' }, { choice: 'b' }, as))).toMatchObject({
    code: 'run-ended',
  })
})

test('an early answer in time counts for a question with a short timeout', async () => {
  const brief = procedure({ name: 'brief' }, async (ctx) => {
    await ctx.sleep('1h')
    return ctx.human.approve('Now?', { key: 'now', timeout: '1s' })
  })
  await using engine = await testEngine({ procedures: [brief] })
  const run = await engine.run(brief)
  await engine.advance('2m')
  await engine.inbox.answer({ run: run.id, key: 'now' }, { approved: true }, as)
  expect(await run.result()).toMatchObject({ approved: true, by: 'user:ana' })
})

test("an early answer after the question's timeout is discarded", async () => {
  const until = new Date(start + 60_000)
  const late = procedure({ name: 'late' }, async (ctx) => {
    await ctx.sleep('1h')
    return ctx.human.approve('Now?', { key: 'now', timeout: until })
  })
  await using engine = await testEngine({ procedures: [late], logger: keepLines().logger })
  const run = await engine.run(late)
  await engine.advance('2m')
  await engine.inbox.answer({ run: run.id, key: 'now' }, { approved: true }, as)
  expect(await run.result()).toMatchObject({ approved: false, timedOut: true })
})

describe('an answer to a question that is not asked yet', () => {
  for (const crashes of [false, true])
    test(`an early answer is kept and counts when its question is asked${crashes ? ', with a crash after every write' : ''}`, async () => {
      await using engine = await testEngine({ procedures: [publish] })
      if (crashes) await engine.crash('every')
      const run = await engine.run(publish)
      await engine.advance('10m')
      const key = { run: run.id, key: 'publish' }
      await engine.inbox.answer(key, { approved: true, params: { title: 'Hi' }, comment: 'go' }, as)
      expect(await run.result()).toEqual({
        approved: true,
        params: { title: 'Hi' },
        modified: true,
        by: 'user:ana',
        at: new Date(start + 600_000),
        comment: 'go',
      })
      const [ask] = (await engine.inbox.list({ status: 'answered' })).items
      expect(ask?.answer?.at).toEqual(new Date(start + 600_000))
      const { execution_log } = await engine.log(run.id)
      expect(execution_log[1]).toMatchObject({
        type: 'hitl_approval',
        name: 'publish',
        status: 'done',
        result: { approved: true, changed: true, responded_at: '2026-01-01T00:10:00.000Z', timed_out: false },
        timestamp: '2026-01-01T01:00:00.000Z',
        duration_ms: 0,
      })
      const { items } = await engine.inbox.list({ status: 'answered' })
      expect(items).toMatchObject([
        { key: 'publish', status: 'answered', answer: { approved: true, by: 'user:ana' } },
      ])
      expect((await engine.inbox.list()).items).toEqual([])
    })

  test('an early answer is validated by the schema itself, which is stricter than its JSON Schema', async () => {
    const dated = procedure({ name: 'dated' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.human.input('When?', z.object({ at: z.coerce.date(), code: z.string().trim().max(3) }), {
        key: 'k',
      })
    })
    await using engine = await testEngine({ procedures: [dated] })
    const run = await engine.run(dated)
    const key = { run: run.id, key: 'k' }
    await engine.inbox.answer(key, { value: { at: '2027-01-31', code: '  abc  ' } }, as)
    expect(await run.result()).toEqual({ at: new Date('2027-01-31'), code: 'abc' })
  })

  test('an early answer whose parsed value cannot be recorded is discarded, and the question stays open', async () => {
    const { logger, lines } = keepLines()
    const half = 'x'.repeat(1_500_000)
    const large = procedure({ name: 'large' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.human.review('Fine?', half, { key: 'k', editable: true })
    })
    await using engine = await testEngine({
      procedures: [large],
      logger,
      humans: [{ ask: 'Fine?', answer: 'silence' }],
    })
    const run = await engine.run(large)
    const key = { run: run.id, key: 'k' }
    await engine.inbox.answer(key, { choice: 'approve', comment: half }, as)
    await engine.advance('2h')
    expect(lines).toMatchObject([{ message: expect.stringContaining('is invalid and was discarded') }])
    await engine.inbox.answer(key, { choice: 'approve' }, as)
    expect(await run.result()).toMatchObject({ choice: 'approve' })
  })

  test('a second early answer is refused and names the first person', async () => {
    await using engine = await testEngine({ procedures: [publish] })
    const run = await engine.run(publish)
    const key = { run: run.id, key: 'publish' }
    await engine.inbox.answer(key, { approved: true }, as)
    const reported = {
      code: 'ask-closed',
      details: { status: 'answered', winner: { by: 'user:ana', at: new Date(start) } },
    }
    expect(await refusalOf(engine.inbox.answer(key, { approved: false }, { as: 'user:bob' }))).toMatchObject({
      ...reported,
      message: expect.stringContaining(
        'if the earlier answer was invalid, the ask is open and accepts another one',
      ),
    })
    expect(await run.result()).toMatchObject({ approved: true, by: 'user:ana' })
    expect(await refusalOf(engine.inbox.answer(key, { approved: false }, { as: 'user:bob' }))).toMatchObject({
      code: 'ask-closed',
    })
  })

  test('an invalid early answer is discarded with a log line, and the question stays open', async () => {
    const { logger, lines } = keepLines()
    for (const crashes of [false, true]) {
      await using engine = await testEngine({
        procedures: [publish],
        logger,
        humans: [{ ask: 'Publish', answer: { approved: false }, after: '1m' }],
      })
      if (crashes) await engine.crash('every')
      const run = await engine.run(publish)
      await engine.inbox.answer({ run: run.id, key: 'publish' }, { choice: 'yes' }, as)
      expect(await run.result()).toMatchObject({ approved: false, by: 'user:test' })
      expect((await engine.log(run.id)).execution_log).toHaveLength(2)
    }
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('Early answer') }),
    )
  })

  test('an early answer that the schema itself refuses is discarded, and the question stays open', async () => {
    const even = z.number().refine(async (value) => value % 2 === 0, { message: 'must be even' })
    const asking = procedure({ name: 'asking' }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.human.input('A number?', even, { key: 'number' })
    })
    await using engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: 'number', answer: { value: 4 } }],
    })
    const run = await engine.run(asking)
    await engine.inbox.answer({ run: run.id, key: 'number' }, { value: 3 }, as)
    expect(await run.result()).toBe(4)
  })

  test('an early answer works for every kind of question, including a decision of an agent', async () => {
    const all = procedure({ name: 'all' }, async (ctx) => {
      await ctx.sleep('1h')
      return [
        await ctx.human.input('Number?', z.number(), { key: 'input' }),
        await ctx.human.select('Which?', ['a', 'b'], { key: 'select' }),
        (await ctx.human.review('Good?', { text: 'x' }, { key: 'review', editable: true })).artifact,
        (await ctx.human.escalate('Help', { key: 'escalate' })).choice,
      ]
    })
    await using engine = await testEngine({ procedures: [all] })
    const run = await engine.run(all)
    await engine.inbox.answer({ run: run.id, key: 'escalate' }, { choice: 'continue' }, as)
    await engine.inbox.answer({ run: run.id, key: 'input' }, { value: 5 }, as)
    await engine.inbox.answer(
      { run: run.id, key: 'review' },
      { choice: 'approve', artifact: { text: 'y' } },
      as,
    )
    await engine.inbox.answer({ run: run.id, key: 'select' }, { choice: 'b' }, as)
    expect(await run.result()).toEqual([5, 'b', { text: 'y' }, 'continue'])
  })

  test('an answer by key is a normal answer once the question is open', async () => {
    await using engine = await testEngine({
      procedures: [publish],
      humans: [{ ask: 'Publish', answer: 'silence' }],
    })
    const run = await engine.run(publish)
    await engine.advance('2h')
    const key = { run: run.id, key: 'publish' }
    expect(
      await refusalOf(engine.inbox.answer(key, { approved: true, params: { other: 1 } }, as)),
    ).toMatchObject({ code: 'answer-invalid' })
    await engine.inbox.answer(key, { approved: true }, as)
    expect(await run.result()).toMatchObject({ approved: true })
  })

  test('an early answer is refused without an actor, or for a run that does not exist or has ended', async () => {
    await using engine = await testEngine({
      procedures: [publish],
      humans: [{ ask: 'Publish', answer: { approved: true } }],
    })
    const run = await engine.run(publish)
    expect(
      await refusalOf(engine.inbox.answer({ run: 'nobody', key: 'x' }, { approved: true }, as)),
    ).toMatchObject({ code: 'run-not-found' })
    expect(
      await refusalOf(engine.inbox.answer({ run: run.id, key: 'x' }, { approved: true }, { as: 'agent:x' })),
    ).toMatchObject({
      code: 'answer-forbidden',
      message: expect.not.stringContaining('is still open'),
    })
    await run.result()
    expect(
      await refusalOf(engine.inbox.answer({ run: run.id, key: 'x' }, { approved: true }, as)),
    ).toMatchObject({
      code: 'run-ended',
      details: { run: run.id, status: 'completed' },
    })
  })

  test('an unused early answer is not a signal and does not keep the run from ending', async () => {
    await using engine = await testEngine({
      procedures: [publish],
      humans: [{ ask: 'Publish', answer: { approved: true } }],
    })
    const run = await engine.run(publish)
    await engine.inbox.answer({ run: run.id, key: 'other' }, { approved: true }, as)
    expect(await run.result()).toMatchObject({ approved: true })
    expect((await run.status()).leftOver.signals).toEqual([])
  })
})

describe('a key', () => {
  test('a key names the ask in the inbox and in the log', async () => {
    await using engine = await testEngine({
      procedures: [publish],
      humans: [{ ask: 'Publish', answer: 'silence' }],
    })
    const run = await engine.run(publish)
    await engine.advance('2h')
    expect((await engine.inbox.next()).key).toBe('publish')
    expect((await engine.log(run.id)).execution_log[1]?.name).toBe('publish')
  })

  test('a key used twice in a run is refused in the call, and the run continues', async () => {
    const twice = procedure({ name: 'twice' }, async (ctx) => {
      await ctx.human.approve('One?', { key: 'same' })
      const refused = await Promise.resolve()
        .then(() => ctx.human.select('Two?', ['a'], { key: 'same' }))
        .catch((error: { readonly code: string }) => error.code)
      await ctx.human.approve('Three?', { key: 'other' })
      return refused
    })
    for (const crashes of [false, true]) {
      await using engine = await testEngine({
        procedures: [twice],
        humans: [{ ask: /./, answer: { approved: true } }],
      })
      if (crashes) await engine.crash('every')
      expect(await (await engine.run(twice)).result()).toBe('option-invalid')
    }
  })

  test('two runs may use the same key', async () => {
    await using engine = await testEngine({ procedures: [publish] })
    const runs = await Promise.all([engine.run(publish), engine.run(publish)])
    for (const [index, run] of runs.entries())
      await engine.inbox.answer({ run: run.id, key: 'publish' }, { approved: index === 0 }, as)
    expect(await Promise.all(runs.map(async (run) => (await run.result()).approved))).toEqual([true, false])
  })
})
