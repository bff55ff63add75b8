import { agent, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'

const as = { as: 'user:ana' } as const
const silent = [{ ask: /./, answer: 'silence' as const }]

const writer = agent(
  { name: 'writer', input: z.string(), output: z.string() },
  async (topic) => `About ${topic}`,
)

/** Every kind of operation, one after the other. */
const mixed = procedure({ name: 'mixed', signals: { go: z.string() } }, async (ctx) => {
  const order: string[] = []
  order.push(await ctx.step('load', () => 'loaded'))
  order.push(await ctx.agent(writer, 'cats'))
  order.push(String((await ctx.human.approve('Approve?', { key: 'approve' })).approved))
  order.push(await ctx.human.input('Input?', z.string(), { key: 'input' }))
  order.push(await ctx.human.select('Select?', ['a', 'b'], { key: 'select' }))
  order.push((await ctx.human.review('Review?', 'text', { key: 'review' })).choice)
  order.push((await ctx.human.escalate('Escalate!', { key: 'escalate' })).choice)
  await ctx.human.notify('Notice')
  order.push(
    (
      await ctx.agent.decide('Decide?', ['yes', 'no'], {
        fallback: { ask: {} },
        agent: hesitant,
        minConfidence: 0.5,
      })
    ).choice,
  )
  await ctx.sleep('1h')
  order.push(await ctx.receive('go'))
  const [left, right] = await Promise.all([ctx.step('left', () => 'l'), ctx.step('right', () => 'r')])
  order.push(left, right, String(ctx.random()), ctx.uuid(), ctx.now().toISOString())
  return order
})
const hesitant = agent({ name: 'hesitant', input: z.any(), output: z.any() }, async () => ({
  choice: 'no',
  rationale: 'hm',
  confidence: 0.1,
}))

const humans = [
  { ask: 'Approve?', answer: { approved: true as const } },
  { ask: 'Input?', answer: { value: 'typed' } },
  { ask: 'Select?', answer: { choice: 'b' } },
  { ask: 'Review?', answer: { choice: 'reject' } },
  { ask: 'Escalate!', answer: { choice: 'continue' } },
  { ask: 'Decide?', answer: { choice: 'yes' } },
]
const onceEach = { load: 1, writer: 1, hesitant: 1, left: 1, right: 1 }

describe('kill and resume', () => {
  test('an answered question is not asked again after a kill', async () => {
    const basic = procedure({ name: 'basic' }, async (ctx) => {
      const first = await ctx.step('before', () => 'before')
      const { approved } = await ctx.human.approve('Continue?')
      return [first, approved, await ctx.step('after', () => 'after')]
    })
    await using engine = await testEngine({ procedures: [basic], humans: silent })
    const run = await engine.run(basic)
    await engine.advance('1m')
    await engine.crash()
    const ask = await engine.inbox.next()
    expect((await engine.inbox.list()).items).toHaveLength(1)
    expect(ask.askedAt).toEqual(new Date('2026-01-01T00:00:00Z'))
    await engine.crash()
    await engine.inbox.answer(ask.id, { approved: true }, as)
    await engine.crash()
    expect(await run.result()).toEqual(['before', true, 'after'])
    expect(engine.calls).toEqual({ before: 1, after: 1 })
    expect((await engine.log(run.id)).execution_log.map(({ type, status }) => [type, status])).toEqual([
      ['step', 'done'],
      ['hitl_approval', 'done'],
      ['step', 'done'],
    ])
  })

  test('several questions in sequence are each asked once, with a kill before and after each answer', async () => {
    const several = procedure({ name: 'several' }, async (ctx) => [
      (await ctx.human.approve('One?')).approved,
      (await ctx.human.approve('Two?')).approved,
      (await ctx.human.approve('Three?')).approved,
    ])
    await using engine = await testEngine({ procedures: [several], humans: silent })
    const run = await engine.run(several)
    for (const [index, message] of ['One?', 'Two?', 'Three?'].entries()) {
      await engine.crash()
      const ask = await engine.inbox.next()
      expect(ask.message).toBe(message)
      expect((await engine.inbox.list()).items).toHaveLength(1)
      expect((await engine.log(run.id)).replay_index).toBe(index)
      await engine.crash()
      await engine.inbox.answer(ask.id, { approved: index !== 1 }, as)
    }
    await engine.crash()
    expect(await run.result()).toEqual([true, false, true])
    expect((await engine.inbox.list({ status: 'answered' })).items).toHaveLength(3)
  })

  test('a call to a model is replayed without a call', async () => {
    const calling = procedure({ name: 'calling' }, async (ctx) => {
      const text = await ctx.agent(writer, 'cats')
      await ctx.human.approve('Good?')
      return text
    })
    await using engine = await testEngine({ procedures: [calling], humans: silent, replay: 'always' })
    const run = await engine.run(calling)
    for (let kills = 0; kills < 3; kills++) {
      await engine.advance('1m')
      await engine.crash()
    }
    await engine.inbox.answer(`${run.id}/1`, { approved: true }, as)
    expect(await run.result()).toBe('About cats')
    expect(engine.calls).toEqual({ writer: 1 })
  })

  test('operations of every kind have the same results with a kill after every write', async () => {
    const play = async (how: 'undisturbed' | 'crash' | 'replay'): Promise<unknown> => {
      await using engine = await testEngine({
        procedures: [mixed],
        humans,
        replay: how === 'replay' ? 'always' : 'on-crash',
      })
      if (how === 'crash') await engine.crash('every')
      const run = await engine.run(mixed)
      await run.signal('go', 'gone')
      const result = await run.result()
      expect(engine.calls).toEqual(onceEach)
      return {
        result,
        log: await engine.log(run.id),
        asks: (await engine.inbox.list({ status: 'answered' })).items.length,
      }
    }
    const plain = await play('undisturbed')
    expect(plain).toMatchObject({
      asks: 6,
      log: { replay_index: 13 },
      result: expect.arrayContaining([
        'loaded',
        'About cats',
        'true',
        'typed',
        'b',
        'reject',
        'continue',
        'yes',
        'gone',
        'l',
        'r',
      ]),
    })
    expect(await play('crash')).toEqual(plain)
    expect(await play('replay')).toEqual(plain)
  })

  test('a kill at any moment repeats at most the effect that it interrupted', async () => {
    const plain = await playWithKillAt(null)
    const { changes } = plain
    expect(changes).toBeGreaterThan(15)
    expect(plain.calls).toEqual(onceEach)
    for (let at = 1; at <= changes; at++) {
      const killed = await playWithKillAt(at)
      expect(killed.outcome).toEqual(plain.outcome)
      const repeated = Object.keys(onceEach).filter((name) => killed.calls[name] !== 1)
      for (const name of repeated) expect(killed.calls[name]).toBe(2)
      // Two effects may be at work together, and are then recorded together.
      const effects = repeated.map((name) => (name === 'right' ? 'left' : name))
      expect(new Set(effects).size).toBeLessThanOrEqual(1)
    }
  })

  test('every timeout is kept across kills', async () => {
    const timed = procedure({ name: 'timed' }, async (ctx) => {
      const approval = await ctx.human.approve('One?', { timeout: '1h' })
      const picked = await ctx.human.select('Two?', ['a', 'b'], {
        timeout: '30m',
        onTimeout: { default: 'b' },
      })
      const failed = await ctx.human
        .input('Three?', z.string(), { timeout: '10m' })
        .catch((error: { readonly code: string }) => error.code)
      const late = await Promise.race([
        ctx.human.approve('Four?', { timeout: '1h', onTimeout: 'escalate' }),
        ctx.sleep('3h'),
      ])
      return [approval.approved, picked, failed, late, ctx.now().toISOString()]
    })
    await using engine = await testEngine({ procedures: [timed], humans: silent })
    const run = await engine.run(timed)
    for (let minutes = 0; minutes < 270; minutes += 7) {
      await engine.advance('7m')
      await engine.crash()
    }
    expect(await run.result()).toEqual([false, 'b', 'ask-timed-out', undefined, '2026-01-01T04:40:00.000Z'])
    expect((await engine.log(run.id)).execution_log.map(({ timestamp }) => timestamp)).toEqual([
      '2026-01-01T01:00:00.000Z',
      '2026-01-01T01:30:00.000Z',
      '2026-01-01T01:40:00.000Z',
      '2026-01-01T04:40:00.000Z',
      '2026-01-01T04:40:00.000Z',
    ])
  })

  test('1,000 checkpoints are replayed after a kill without running again', async () => {
    const long = procedure({ name: 'long' }, async (ctx) => {
      let sum = 0
      for (let index = 0; index < 1_000; index++) sum += await ctx.step(`step ${index}`, () => index)
      await ctx.human.approve('Done?')
      return sum
    })
    await using engine = await testEngine({ procedures: [long], humans: silent })
    const run = await engine.run(long)
    await engine.advance('1m')
    expect((await engine.log(run.id)).replay_index).toBe(1_000)
    await engine.crash()
    await engine.inbox.answer(`${run.id}/1000`, { approved: true }, as)
    expect(await run.result()).toBe(499_500)
    expect(Object.values(engine.calls)).toEqual(Array.from({ length: 1_000 }, () => 1))
    expect((await engine.log(run.id)).execution_log).toHaveLength(1_001)
  })

  test('an effect before a question happens once, whatever happens while the question is open', async () => {
    const effects: string[] = []
    const careful = procedure({ name: 'careful' }, async (ctx) => {
      await ctx.step('reserve', ({ idempotencyKey }) => effects.push(idempotencyKey))
      const { approved } = await ctx.human.approve('Charge?', { timeout: '30d' })
      if (approved) await ctx.step('charge', ({ idempotencyKey }) => effects.push(idempotencyKey))
    })
    await using engine = await testEngine({
      procedures: [careful],
      humans: [{ ask: 'Charge', answer: { approved: true }, after: '29d' }],
    })
    await engine.crash('every')
    const run = await engine.run(careful)
    await run.result()
    expect(effects).toHaveLength(2)
    expect(new Set(effects).size).toBe(2)
  })

  test('a resume before the answer waits for the question', async () => {
    const gated = procedure({ name: 'gated' }, async (ctx) => {
      const { approved } = await ctx.human.approve('Delete?', { timeout: '1h' })
      if (!approved) return 'aborted'
      await ctx.step('delete', () => 1)
      return 'deleted'
    })
    const outcomes: unknown[] = []
    for (const answer of ['silence', { approved: false }, { approved: true }] as const) {
      const store = memory()
      const first = await testEngine({ procedures: [gated], store, humans: silent })
      const run = await first.run(gated)
      await first.advance('1m')
      await first.stop()
      await using second = await testEngine({
        procedures: [gated],
        store,
        humans: [{ ask: 'Delete', answer }],
      })
      outcomes.push([await second.get(run.id).result(), second.calls])
    }
    expect(outcomes).toEqual([
      ['aborted', {}],
      ['aborted', {}],
      ['deleted', { delete: 1 }],
    ])
  })
})

interface Play {
  readonly changes: number
  readonly outcome: unknown
  readonly calls: Readonly<Record<string, number>>
}

/** Plays the mixed procedure, counting the changes of its log; the worker is killed when that many have been seen. */
async function playWithKillAt(at: number | null): Promise<Play> {
  await using engine = await testEngine({ procedures: [mixed], humans })
  const run = await engine.run(mixed)
  await run.signal('go', 'gone')
  const result = run.result()
  let isOver = false
  void result.finally(() => {
    isOver = true
  })
  let changes = 0
  let seen = ''
  while (!isOver) {
    await new Promise((resolve) => setImmediate(resolve))
    const log = JSON.stringify(await engine.log(run.id))
    if (log === seen) continue
    seen = log
    changes++
    if (changes === at) await engine.crash()
  }
  const outcome = { result: await result, log: (await engine.log(run.id)).execution_log }
  return { changes, outcome, calls: engine.calls }
}
