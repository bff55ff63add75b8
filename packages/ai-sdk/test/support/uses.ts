import type { Ctx } from '@pawl/core'
import * as ai from 'ai'
import { z } from 'zod'
import { durableModel, durableTools } from '../../src/index.ts'
import { call, Mock, type Request, reply, steps, streamed, text } from './models.ts'

/** Counts what really happened. */
export const counts = { calls: 0, executions: 0, failures: 0 }

/** Calls two tools, and says 'done' when it has their results. */
const caller = new Mock({
  provider: 'mock',
  modelId: 'caller',
  doGenerate: async (request) => {
    counts.calls += 1
    await new Promise((resolve) => setTimeout(resolve, 2))
    return reply(turn(request))
  },
  doStream: async (request) => {
    counts.calls += 1
    return streamed(turn(request))
  },
})
const plain = new Mock({
  provider: 'mock',
  modelId: 'plain',
  doGenerate: async () => {
    counts.calls += 1
    return reply([text('{"n":7}')])
  },
})
const overloaded = new Mock({
  provider: 'mock',
  modelId: 'overloaded',
  doGenerate: async () => {
    counts.calls += 1
    counts.failures += 1
    if (counts.failures <= 2) throw apiError('overloaded', 529, true)
    return reply([text('at last')])
  },
})
const refusing = new Mock({
  provider: 'mock',
  modelId: 'refusing',
  doGenerate: async () => {
    counts.calls += 1
    throw apiError('bad key', 401, false)
  },
})

function turn({ prompt }: Request) {
  if (prompt.some(({ role }) => role === 'tool')) return [text('done')]
  return [call('pay', { cents: 4_500 }, 'call-1'), call('look', { id: 'A' }, 'call-2')]
}

function apiError(message: string, statusCode: number, isRetryable: boolean) {
  return new ai.APICallError({
    message,
    url: 'http://127.0.0.1',
    requestBodyValues: {},
    statusCode,
    isRetryable,
  })
}

const pay = ai.tool({
  description: 'pays',
  inputSchema: z.object({ cents: z.number() }),
  execute: async ({ cents }) => {
    counts.executions += 1
    return { paid: cents }
  },
})
const look = ai.tool({
  description: 'looks',
  inputSchema: z.object({ id: z.string() }),
  execute: async ({ id }) => {
    counts.executions += 1
    return { id }
  },
})
const open = { pay, look }
const guarded = { pay: { ...pay, needsApproval: true }, look }
const approve = { editable: ['cents'] }

async function join(stream: AsyncIterable<string>): Promise<string> {
  let joined = ''
  for await (const part of stream) joined += part
  return joined
}

/** A use of the SDK in a procedure, with its result and its effects. */
export interface Use {
  readonly body: (ctx: Ctx) => Promise<unknown>
  readonly result: unknown
  /** Calls to a model. */
  readonly calls: number
  /** Executions of tools. */
  readonly executions: number
  /** Whether several bodies run at once. Default: false. */
  readonly isConcurrent?: true
}

export const uses: Record<string, Use> = {
  'generateText with an approval': {
    isConcurrent: true,
    body: async (ctx) => {
      const tools = durableTools(ctx, guarded, { approve })
      const result = await ai.generateText({
        model: durableModel(ctx, caller),
        ...tools,
        stopWhen: steps(5),
        prompt: 'x',
      })
      const outputs = result.steps[0]?.toolResults.map(({ toolCallId, output }) => [toolCallId, output])
      return [result.text, Object.fromEntries(outputs ?? [])]
    },
    result: ['done', { 'call-1': { paid: 4_000 }, 'call-2': { id: 'A' } }],
    calls: 2,
    executions: 2,
  },
  'streamText with an approval': {
    isConcurrent: true,
    body: async (ctx) => {
      const tools = durableTools(ctx, guarded, { approve })
      const result = ai.streamText({
        model: durableModel(ctx, caller),
        ...tools,
        stopWhen: steps(5),
        prompt: 'x',
      })
      return [await join(result.textStream), (await result.steps).length]
    },
    result: ['done', 2],
    calls: 2,
    executions: 2,
  },
  'ToolLoopAgent.generate': {
    isConcurrent: true,
    body: async (ctx) => {
      const agent = new ai.ToolLoopAgent({
        model: durableModel(ctx, caller),
        ...durableTools(ctx, open),
        stopWhen: steps(5),
      })
      return (await agent.generate({ prompt: 'x' })).text
    },
    result: 'done',
    calls: 2,
    executions: 2,
  },
  'ToolLoopAgent.stream': {
    isConcurrent: true,
    body: async (ctx) => {
      const agent = new ai.ToolLoopAgent({
        model: durableModel(ctx, caller),
        ...durableTools(ctx, open),
        stopWhen: steps(5),
      })
      return join((await agent.stream({ prompt: 'x' })).textStream)
    },
    result: 'done',
    calls: 2,
    executions: 2,
  },
  'Output.object': {
    body: async (ctx) => {
      const output = ai.Output.object({ schema: z.object({ n: z.number() }) })
      return (await ai.generateText({ model: durableModel(ctx, plain), output, prompt: 'x' })).output
    },
    result: { n: 7 },
    calls: 1,
    executions: 0,
  },
  'three calls in Promise.all': {
    isConcurrent: true,
    body: async (ctx) => {
      const texts = [1, 2, 3].map((n) => ai.generateText({ model: durableModel(ctx, plain), prompt: `${n}` }))
      return (await Promise.all(texts)).length
    },
    result: 3,
    calls: 3,
    executions: 0,
  },
  'three loops in Promise.all': {
    isConcurrent: true,
    body: async (ctx) => {
      const loops = [1, 2, 3].map(() =>
        ai.generateText({
          model: durableModel(ctx, caller),
          ...durableTools(ctx, open),
          stopWhen: steps(5),
          prompt: 'x',
        }),
      )
      return (await Promise.all(loops)).map((result) => result.text)
    },
    result: ['done', 'done', 'done'],
    calls: 6,
    executions: 6,
  },
  'a provider that is overloaded twice': {
    body: async (ctx) => (await ai.generateText({ model: durableModel(ctx, overloaded), prompt: 'x' })).text,
    result: 'at last',
    calls: 3,
    executions: 0,
  },
  'a provider that refuses the key': {
    body: async (ctx) => {
      const failure = await ai
        .generateText({ model: durableModel(ctx, refusing), prompt: 'x' })
        .catch((error) => error)
      return [failure.code, failure.details.cause.code, failure.message.includes('401 bad key')]
    },
    result: ['step-failed', 'http-401', true],
    calls: 1,
    executions: 0,
  },
  toUIMessageStream: {
    isConcurrent: true,
    body: async (ctx) => {
      const { tools } = durableTools(ctx, open)
      const result = ai.streamText({
        model: durableModel(ctx, caller),
        tools,
        stopWhen: steps(5),
        prompt: 'x',
      })
      const types: string[] = []
      for await (const { type } of result.toUIMessageStream()) types.push(type)
      return types.filter((type) => type === 'text-delta' || type === 'tool-output-available')
    },
    result: ['tool-output-available', 'tool-output-available', 'text-delta'],
    calls: 2,
    executions: 2,
  },
}
