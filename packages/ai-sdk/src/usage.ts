import type { ModelUsage } from './model-call.ts'

/** Usage of a language model, as every version of the SDK's specification reports it. */
interface Reported {
  readonly inputTokens?: Tokens
  readonly outputTokens?: Tokens
  readonly cachedInputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}
type Tokens = number | undefined | { readonly [part: string]: number | undefined }

/** Returns the usage of a call as the log stores it. */
export function readUsage(model: string, reported: unknown): ModelUsage {
  const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = (reported ?? {}) as Reported
  return {
    model,
    inputTokens: part(inputTokens, 'total'),
    outputTokens: part(outputTokens, 'total'),
    cachedTokens: cachedInputTokens ?? partOnly(inputTokens, 'cacheRead'),
    reasoningTokens: reasoningTokens ?? partOnly(outputTokens, 'reasoning'),
  }
}

function part(tokens: Tokens, name: string): number | undefined {
  return typeof tokens === 'number' ? tokens : tokens?.[name]
}

function partOnly(tokens: Tokens, name: string): number | undefined {
  return typeof tokens === 'object' ? tokens[name] : undefined
}
