import {
  Agent,
  type Model,
  type ModelRequest,
  Runner,
  setTracingDisabled,
  tool,
  Usage,
} from '@openai/agents-core'
import { type Ctx, type Procedure, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { answerInterruptions, durableModel, durableTool, idempotencyKeyOf } from '../src/index.ts'

setTracingDisabled(true)
let calls = 0
const executed: object[] = []

const details = {
  inputTokensDetails: { cached_tokens: 4 },
  outputTokensDetails: { reasoning_tokens: 2 },
}
const recordedUsage = [
  { model: 'mock', inputTokens: 10, outputTokens: 5, cachedTokens: 4, reasoningTokens: 2 },
]

/** Calls the tool, and then repeats its result. */
const model: Model = {
  async getResponse({ input }: ModelRequest) {
    calls += 1
    await new Promise((resolve) => setTimeout(resolve, 2))
    const items = input as readonly { type?: string; output?: unknown }[]
    const done = Array.isArray(items) ? items.find(({ type }) => type === 'function_call_result') : undefined
    return {
      usage: new Usage({ requests: 1, inputTokens: 10, outputTokens: 5, totalTokens: 15, ...details }),
      output: done
        ? [message(JSON.stringify(done.output))]
        : [
            {
              type: 'function_call',
              callId: 'c1',
              name: 'pay',
              status: 'completed',
              arguments: '{"cents":4500}',
            },
          ],
    }
  },
  async *getStreamedResponse() {
    calls += 1
    yield { type: 'output_text_delta', delta: 'hello' }
    yield {
      type: 'response_done',
      response: {
        id: 'r1',
        usage: { inputTokens: 10, outputTokens: 5, totalTokens: 15, ...details },
        output: [message('hello')],
      },
    }
  },
}

function message(text: string) {
  return {
    type: 'message' as const,
    role: 'assistant' as const,
    status: 'completed' as const,
    content: [{ type: 'output_text' as const, text }],
  }
}

const pay = tool({
  name: 'pay',
  description: 'pays',
  parameters: z.object({ cents: z.number() }),
  needsApproval: true,
  execute: ({ cents }) => {
    executed.push({ cents })
    return { paid: cents }
  },
})

const desk = procedure({ name: 'desk' }, async (ctx) => {
  const agent = new Agent({
    name: 'desk',
    instructions: 'x',
    tools: [durableTool(ctx, pay)],
    model: durableModel(ctx, model, { name: 'mock' }),
  })
  const runner = new Runner({ tracingDisabled: true })
  let result = await runner.run(agent, 'refund')
  while (await answerInterruptions(ctx, result)) result = await runner.run(agent, result.state)
  return result.finalOutput
})

async function play(
  body: Procedure<undefined, unknown>,
  life: string,
  answer: { approved: boolean; comment?: string },
) {
  calls = 0
  executed.length = 0
  await using engine = await testEngine({
    procedures: [body],
    replay: life === 'always' ? 'always' : 'on-crash',
    humans: [{ ask: 'Run pay?', answer: answer as { approved: true } }],
  })
  if (life === 'crash') await engine.crash('every')
  const run = await engine.run(body, undefined, { id: 'desk-1' })
  return { result: await run.result(), log: (await engine.log(run.id)).execution_log }
}

test.each(['live', 'always', 'crash'])(
  'an approved tool runs once, and each call to the model is made once: %s',
  async (life) => {
    const { result, log } = await play(desk, life, { approved: true })
    expect(result).toContain('4500')
    expect([calls, executed]).toEqual([2, [{ cents: 4_500 }]])
    expect(log.map(({ type, name }) => `${type} ${name}`)).toEqual([
      'llm mock',
      'hitl_approval c1',
      'step tool pay',
      'llm mock',
    ])
    expect(log[0]).toMatchObject({ result: { usage: recordedUsage } })
  },
)

test.each(['live', 'always', 'crash'])(
  'a rejected tool does not run, and the model is told the reason: %s',
  async (life) => {
    const { result } = await play(desk, life, { approved: false, comment: 'too much' })
    expect(result).toContain('too much')
    expect([calls, executed]).toEqual([2, []])
  },
)

test.each(['live', 'always', 'crash'])('a stream is recorded when it has ended: %s', async (life) => {
  const streaming = procedure({ name: 'streaming' }, async (ctx: Ctx) => {
    const agent = new Agent({
      name: 'desk',
      instructions: 'x',
      model: durableModel(ctx, model, { name: 'mock' }),
    })
    const result = await new Runner({ tracingDisabled: true }).run(agent, 'hi', { stream: true })
    let read = ''
    for await (const event of result)
      if (event.type === 'raw_model_stream_event' && event.data.type === 'output_text_delta')
        read += event.data.delta
    return [read, result.finalOutput]
  })
  const { result, log } = await play(streaming, life, { approved: true })
  expect(log[0]).toMatchObject({ result: { usage: recordedUsage } })
  expect(result).toEqual(['hello', 'hello'])
  expect(calls).toBe(1)
})

test('a request that the provider refuses is not retried', async () => {
  let attempts = 0
  const refusing: Model = {
    ...model,
    async getResponse() {
      attempts += 1
      throw Object.assign(new Error('401 bad key'), { status: 401 })
    },
  }
  const failing = procedure({ name: 'failing' }, async (ctx) => {
    const agent = new Agent({
      name: 'desk',
      instructions: 'x',
      model: durableModel(ctx, refusing, { name: 'mock' }),
    })
    await new Runner({ tracingDisabled: true }).run(agent, 'hi')
  })
  await using engine = await testEngine({
    procedures: [failing],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const run = await engine.run(failing)
  await expect(run.result()).rejects.toThrow('401 bad key')
  expect(attempts).toBe(1)
})

test.each([undefined, 60_000])(
  'each attempt of a tool has the same idempotency key, with a timeout of %s',
  async (timeoutMs) => {
    const keys: unknown[] = []
    const failing = tool({
      name: 'pay',
      description: 'pays',
      parameters: z.object({ cents: z.number() }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      errorFunction: null,
      execute: (_input, _context, given) => {
        keys.push(idempotencyKeyOf(given))
        if (keys.length === 1) throw new Error('not yet')
        return 'paid'
      },
    })
    const retrying = procedure({ name: 'retrying' }, async (ctx) => {
      const agent = new Agent({
        name: 'desk',
        instructions: 'x',
        tools: [durableTool(ctx, failing)],
        model: durableModel(ctx, model, { name: 'mock' }),
      })
      return (await new Runner({ tracingDisabled: true }).run(agent, 'refund')).finalOutput
    })
    const { result } = await play(retrying, 'live', { approved: true })
    expect(result).toContain('paid')
    expect(keys).toEqual([expect.any(String), keys[0]])
    expect(idempotencyKeyOf({})).toBeUndefined()
  },
)

/** A run whose model calls a tool with these arguments, and what its person is shown. */
async function playArguments(written: string, life = 'live') {
  executed.length = 0
  const asked: unknown[] = []
  const calling: Model = {
    ...model,
    async getResponse(request: ModelRequest) {
      const { output, ...rest } = await model.getResponse(request)
      return {
        ...rest,
        output: output.map((one) => (one.type === 'function_call' ? { ...one, arguments: written } : one)),
      }
    },
  }
  const transfer = tool({
    name: 'pay',
    description: 'pays',
    parameters: z.object({ cents: z.number().default(1_000_000) }),
    needsApproval: true,
    execute: (given) => {
      executed.push(given)
      return 'paid'
    },
  })
  const paying = procedure({ name: 'paying' }, async (ctx) => {
    const tools = [durableTool(ctx, transfer)]
    const agent = new Agent({ name: 'desk', tools, model: durableModel(ctx, calling, { name: 'mock' }) })
    const runner = new Runner({ tracingDisabled: true })
    let result = await runner.run(agent, 'refund')
    while (await answerInterruptions(ctx, result)) result = await runner.run(agent, result.state)
    return result.finalOutput
  })
  await using engine = await testEngine({
    procedures: [paying],
    replay: life === 'always' ? 'always' : 'on-crash',
    humans: [
      {
        ask: 'Run pay?',
        answer: ({ params }) => {
          asked.push(params)
          return { approved: true }
        },
      },
    ],
  })
  const run = await engine.run(paying)
  return { result: await run.result(), asked }
}

test.each(['live', 'always'])(
  'a person is shown what the schema makes of the arguments: %s',
  async (life) => {
    const shown = { cents: 1_000_000 }
    expect((await playArguments('{"memo":"small change"}', life)).asked).toEqual([shown])
    expect(executed).toEqual([shown])
  },
)

test.each(['[5]', '"5"', '{"cents":"5"}', 'null'])(
  'the arguments %s reach the model as a rejection, and no person is asked',
  async (written) => {
    const { result, asked } = await playArguments(written)
    expect(result).toContain('The arguments are invalid, so the tool did not run')
    expect([asked, executed]).toEqual([[], []])
  },
)
