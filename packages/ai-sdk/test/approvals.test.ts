import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import * as ai from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { type ApprovalOptions, durableModel, durableTools, idempotencyKeyOf } from '../src/index.ts'
import { call, isSeven, Mock, type Request, reply, steps, text } from './support/models.ts'
import { lives, play } from './support/play.ts'

const executed: object[] = []
const refund = ai.tool({
  description: 'refunds',
  inputSchema: z.object({ order: z.string(), cents: z.number().max(10_000) }),
  needsApproval: ({ cents }) => cents > 1_000,
  execute: async (input, options) => {
    executed.push({ ...input, key: idempotencyKeyOf(options) })
    return 'refunded'
  },
})

/** A model that makes these calls, each list in a turn of its own, and then repeats what it was told. */
function model(...turns: ReturnType<typeof call>[][]) {
  return new Mock({
    provider: 'mock',
    modelId: 'desk',
    doGenerate: async ({ prompt }: Request) => {
      const results = prompt.filter(({ role }) => role === 'tool')
      return reply(turns[results.length] ?? [text(JSON.stringify(results.at(-1)?.content))])
    },
  })
}

function desk(turns: ReturnType<typeof call>[][], approve: ApprovalOptions = {}) {
  return async (ctx: Ctx) => {
    const tools = durableTools(ctx, { refund }, { approve })
    const result = await ai.generateText({
      ...tools,
      model: durableModel(ctx, model(...turns)),
      stopWhen: steps(5),
      prompt: 'x',
    })
    return result.text
  }
}

const big = { order: 'A', cents: 5_000 }

test.each(lives)('a person may change what a tool runs with: %s', async (life) => {
  executed.length = 0
  const humans = [
    { ask: 'Run refund?', answer: { approved: true as const, params: { ...big, cents: 4_000 } } },
  ]
  const { result } = await play(desk([[call('refund', big, 'c1')]], { editable: ['cents'] }), life, humans)
  expect(executed).toEqual([{ order: 'A', cents: 4_000, key: expect.any(String) }])
  expect(result).toContain('refunded')
})

test('an edit that the schema of the tool refuses is refused at once, and the form has the bounds of the schema', async () => {
  executed.length = 0
  const asking = procedure({ name: 'asking' }, desk([[call('refund', big, 'c1')]], { editable: ['cents'] }))
  await using engine = await testEngine({ procedures: [asking] })
  const run = await engine.run(asking)
  const ask = await engine.inbox.next({ run: run.id })
  expect(ask.params).toEqual(big)
  expect(ask.schema).toMatchObject({ properties: { cents: { type: 'number', maximum: 10_000 } } })
  const as = { as: 'user:ana' } as const
  const edit = (cents: number) =>
    engine.inbox.answer(ask.id, { approved: true, params: { ...big, cents } }, as)
  await expect(edit(90_000)).rejects.toMatchObject({
    code: 'answer-invalid',
    details: { issues: [{ path: 'params.cents' }] },
  })
  expect((await engine.inbox.get(ask.id))?.status).toBe('open')
  await edit(9_000)
  await run.result()
  expect(executed).toMatchObject([{ cents: 9_000 }])
})

test.each(lives)('the model is told what ran after an edit: %s', async (life) => {
  const humans = [
    { ask: 'Run refund?', answer: { approved: true as const, params: { ...big, cents: 4_000 } } },
  ]
  const { result } = await play(desk([[call('refund', big, 'c1')]], { editable: ['cents'] }), life, humans)
  const [{ output }] = JSON.parse(String(result))
  expect(output.type).toBe('text')
  expect(output.value).toMatch(
    /A person changed the input before the tool ran\. .*"cents": 4000\n}\nResult: refunded$/s,
  )
})

test.each(lives)(
  'of two calls with one id in one reply, a verdict on one is none on the other: %s',
  async (life) => {
    executed.length = 0
    const humans = [
      {
        ask: 'Run refund?',
        answer: ({ params }: { params: unknown }) =>
          ({ approved: (params as { order: string }).order === 'B' }) as { approved: true },
      },
    ]
    const turns = [[call('refund', big, 'same'), call('refund', { ...big, order: 'B' }, 'same')]]
    const { log, result } = await play(desk(turns), life, humans)
    expect(log.filter(({ type }) => type === 'hitl_approval').map(({ name }) => name)).toEqual([
      'same',
      'same-2',
    ])
    expect(executed).toMatchObject([{ order: 'B' }])
    expect(result).toContain('refunded')
  },
)

test.each(lives)('a rejection reaches the model as a denial with its comment: %s', async (life) => {
  executed.length = 0
  const humans = [{ ask: 'Run refund?', answer: { approved: false as const, comment: 'too much' } }]
  const { result } = await play(desk([[call('refund', big, 'c1')]]), life, humans)
  expect(executed).toEqual([])
  expect(JSON.parse(String(result))).toMatchObject([
    { toolCallId: 'c1', output: { type: 'execution-denied', reason: 'too much' } },
  ])
})

test('a timeout reaches the model as a denial', async () => {
  executed.length = 0
  const humans = [{ ask: 'Run refund?', answer: 'silence' as const }]
  const { result } = await play(desk([[call('refund', big, 'c1')]], { timeout: '2d' }), 'live', humans)
  expect(executed).toEqual([])
  expect(result).toContain('The approval timed out.')
})

test('a call that needs no approval asks no person', async () => {
  const { result } = await play(desk([[call('refund', { order: 'A', cents: 10 }, 'c1')]]))
  expect(result).toContain('refunded')
})

test('two calls with the same arguments are two questions', async () => {
  executed.length = 0
  const answers = [true, false]
  const humans = [{ ask: 'Run refund?', answer: () => ({ approved: answers.shift() as true }) }]
  const turns = [[call('refund', big, 'c1'), call('refund', big, 'c2')]]
  const { log } = await play(desk(turns), 'live', humans)
  expect(log.filter(({ type }) => type === 'hitl_approval').map(({ name }) => name)).toEqual(['c1', 'c2'])
  expect(executed).toHaveLength(1)
})

test.each(lives)('a repeated id of a tool call is a question of its own: %s', async (life) => {
  executed.length = 0
  const humans = [{ ask: 'Run refund?', answer: { approved: true as const } }]
  const turns = [[call('refund', big, 'same')], [call('refund', { ...big, order: 'B' }, 'same')]]
  const { log, lines } = await play(desk(turns), life, humans)
  expect(log.filter(({ type }) => type === 'hitl_approval').map(({ name }) => name)).toEqual([
    'same',
    'same-2',
  ])
  expect(executed).toMatchObject([{ order: 'A' }, { order: 'B' }])
  expect(new Set(executed.map((input) => (input as { key: string }).key)).size).toBe(2)
  expect(lines).toEqual([])
})

test('an approval holds for the exact arguments', async () => {
  executed.length = 0
  const asked: unknown[] = []
  const humans = [
    {
      ask: 'Run refund?',
      answer: ({ params }: { params?: unknown }) => {
        asked.push(params)
        return { approved: true as const }
      },
    },
  ]
  await play(
    async (ctx) => {
      const { tools, toolApproval } = durableTools(ctx, { refund })
      const toolCall = { toolName: 'refund', toolCallId: 'c1', input: big }
      expect(await toolApproval({ toolCall, messages: [] })).toMatchObject({ type: 'approved' })
      const execute = tools.refund.execute as (input: object, options: object) => Promise<unknown>
      await execute({ ...big, cents: 9_999 }, { toolCallId: 'c1', messages: [] })
      await execute(big, { toolCallId: 'c1', messages: [] })
      // Used up by the execution before.
      await execute(big, { toolCallId: 'c1', messages: [] })
    },
    'live',
    humans,
  )
  expect(asked).toEqual([big, { ...big, cents: 9_999 }, big])
  expect(executed).toMatchObject([{ cents: 9_999 }, { cents: 5_000 }, { cents: 5_000 }])
})

test('of two calls with the same arguments, each runs with its own edit', async () => {
  executed.length = 0
  const amounts = [4_000, 3_000]
  const humans = [
    {
      ask: 'Run refund?',
      answer: () => ({ approved: true as const, params: { ...big, cents: amounts.shift() } }),
    },
  ]
  await play(
    async (ctx) => {
      const { tools, toolApproval } = durableTools(ctx, { refund }, { approve: { editable: ['cents'] } })
      for (const toolCallId of ['c1', 'c2'])
        await toolApproval({ toolCall: { toolName: 'refund', toolCallId, input: big }, messages: [] })
      const execute = tools.refund.execute as (input: object, options: object) => Promise<unknown>
      for (const toolCallId of ['c2', 'c1']) await execute(big, { toolCallId, messages: [] })
    },
    'live',
    humans,
  )
  expect(executed).toMatchObject([{ cents: 3_000 }, { cents: 4_000 }])
})

test.runIf(isSeven)('AI SDK 7 sees who approved', async () => {
  const humans = [{ ask: 'Run refund?', answer: { approved: true as const }, as: 'user:ann' as const }]
  const { result } = await play(
    async (ctx) => {
      const { toolApproval } = durableTools(ctx, { refund })
      return toolApproval({ toolCall: { toolName: 'refund', toolCallId: 'c1', input: big }, messages: [] })
    },
    'live',
    humans,
  )
  expect(result).toEqual({ type: 'approved', reason: 'user:ann' })
})

test('each attempt of a tool has the same idempotency key', async () => {
  const keys: unknown[] = []
  const failing = ai.tool({
    inputSchema: z.object({}),
    execute: async (_, options) => {
      keys.push(idempotencyKeyOf(options))
      if (keys.length === 1) throw new Error('not yet')
      return 'done'
    },
  })
  await play(async (ctx) => {
    const execute = durableTools(ctx, { failing }).tools.failing.execute as typeof failing.execute
    return execute?.({}, { toolCallId: 'c1', messages: [] } as never)
  })
  expect(keys).toEqual([expect.any(String), keys[0]])
})
