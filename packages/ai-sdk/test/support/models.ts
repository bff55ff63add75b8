import * as ai from 'ai'
import * as doubles from 'ai/test'

/** Whether the tests run with AI SDK 7 or newer. */
export const isSeven = 'isStepCount' in ai

type Part = { readonly type: string; readonly [field: string]: unknown }
type MockModel = new (options: {
  provider: string
  modelId: string
  doGenerate?: (options: Request) => Promise<unknown>
  doStream?: (options: Request) => Promise<unknown>
}) => Parameters<typeof ai.wrapLanguageModel>[0]['model']

/** What a model is called with, as far as the tests read it. */
export interface Request {
  readonly prompt: readonly { readonly role: string; readonly content: unknown }[]
  readonly abortSignal?: AbortSignal
}

const { MockLanguageModelV4, MockLanguageModelV3 } = doubles as unknown as Record<
  string,
  MockModel | undefined
>
/** The mock of the newest specification of the installed SDK. */
export const Mock = (MockLanguageModelV4 ?? MockLanguageModelV3) as MockModel

/** Ends a tool loop after so many steps. */
export function steps(count: number): ReturnType<typeof ai.stepCountIs> {
  return ai.stepCountIs(count)
}

const usage = {
  inputTokens: { total: 10, noCache: 8, cacheRead: 2, cacheWrite: 0 },
  outputTokens: { total: 3, text: 2, reasoning: 1 },
}

/** A result of `doGenerate` with these parts. */
export function reply(content: readonly Part[], fields: object = {}): object {
  const isText = content.every(({ type }) => type !== 'tool-call')
  return {
    content,
    finishReason: { unified: isText ? 'stop' : 'tool-calls', raw: 'raw' },
    usage,
    warnings: [],
    ...fields,
  }
}

export function text(value: string): Part {
  return { type: 'text', text: value }
}

/** A call to a tool in a model's reply. */
export function call(toolName: string, input: object, toolCallId: string): Part {
  return { type: 'tool-call', toolCallId, toolName, input: JSON.stringify(input) }
}

/** The reply as a stream, each text in two deltas, with a timer between the parts. */
export function streamed(content: readonly Part[]): object {
  const { finishReason } = reply(content) as { finishReason: unknown }
  const parts = content.flatMap((part) => (part.type === 'text' ? deltas(String(part['text'])) : [part]))
  return {
    stream: ai.simulateReadableStream({
      initialDelayInMs: null,
      chunkDelayInMs: 1,
      chunks: [{ type: 'stream-start', warnings: [] }, ...parts, { type: 'finish', finishReason, usage }],
    }),
  }
}

function deltas(value: string): Part[] {
  const half = Math.ceil(value.length / 2)
  return [
    { type: 'text-start', id: '1' },
    { type: 'text-delta', id: '1', delta: value.slice(0, half) },
    { type: 'text-delta', id: '1', delta: value.slice(half) },
    { type: 'text-end', id: '1' },
  ]
}
