import { adviseRun } from '@pawl/core/internal'
import { gateway, type LanguageModelMiddleware, wrapLanguageModel } from 'ai'
import { checkCtx, checkModel, checkOptionNames, modelOptions } from './checks.ts'
import { type FileOptions, keepFiles } from './files.ts'
import { callModel, type ModelCtx, type ModelOptions } from './model-call.ts'
import { readParts, type StreamPart, streamOf } from './stream.ts'
import { uniqueCallIds } from './unique-ids.ts'
import { readUsage } from './usage.ts'

type WrapOptions = Parameters<typeof wrapLanguageModel>[0]
type WrappedModel = ReturnType<typeof wrapLanguageModel>
type Wrap<K extends 'wrapGenerate' | 'wrapStream'> = NonNullable<LanguageModelMiddleware[K]>
type StreamResult = Awaited<ReturnType<Wrap<'wrapStream'>>>

/** Options of {@link durableModel}. */
export interface LanguageModelOptions extends ModelOptions, FileOptions {}

/**
 * Makes a language model durable: every call is recorded as one operation of the run, with its usage, and a replay
 * returns the recorded result. A stream is recorded when it has ended.
 *
 * Retries are Pawl's: `retry` and `timeout` apply to each call, and `maxRetries` of the SDK has no effect. An error that
 * the provider marks as not retryable ends the attempts. The SDK sees a `step-failed`, whose message contains the status
 * code.
 * @param model a model of a provider, or the id of a model of the gateway, such as 'anthropic/claude-sonnet-4'
 * @example
 * const { text } = await generateText({ model: durableModel(ctx, anthropic('claude-sonnet-4-5')), prompt })
 */
export function durableModel(
  ctx: ModelCtx,
  model: WrapOptions['model'] | (string & {}),
  options: LanguageModelOptions = {},
): WrappedModel {
  const of = 'durableModel'
  checkCtx(of, ctx, 'agent')
  checkOptionNames(of, options, [...modelOptions, 'files'])
  const given = typeof model === 'string' ? gateway(model) : model
  checkModel(of, given, 'doGenerate')
  adviseRun(advice)
  const { files, ...policy } = options
  // The three specifications differ in their types, not in what is used here.
  const middleware = {
    specificationVersion: specificationOf(given),
    wrapGenerate: (({ params, model: inner }) =>
      callModel(ctx, given, policy, params, async (call, own) => {
        const { request: _, response, ...result } = await inner.doGenerate(own)
        call.usage(readUsage(response?.modelId ?? given.modelId, result.usage))
        const content = await keepFiles(
          uniqueCallIds(result.content),
          { ...(files && { files }) },
          call.idempotencyKey,
        )
        return { ...result, content, response: keepResponse(response, call.idempotencyKey) }
      })) as Wrap<'wrapGenerate'>,
    wrapStream: (async ({ params, model: inner }) => {
      const parts = await callModel(ctx, given, policy, params, async (call, own) => {
        const { stream } = await inner.doStream(own)
        const read = await readParts(stream)
        const about = read.find(({ type }) => type === 'response-metadata') as
          | { modelId?: string }
          | undefined
        const end = read.find(({ type }) => type === 'finish') as { usage?: unknown } | undefined
        call.usage(readUsage(about?.modelId ?? given.modelId, end?.usage))
        return keepFiles(
          uniqueCallIds(withMetadata(read, call.idempotencyKey)),
          { ...(files && { files }) },
          call.idempotencyKey,
        )
      })
      return { stream: streamOf(parts) } as StreamResult
    }) as Wrap<'wrapStream'>,
  } as LanguageModelMiddleware
  return wrapLanguageModel({ model: given, middleware })
}

// The SDK does not pass these options to the model, so they cannot be detected here.
const advice =
  'The AI SDK waits outside `ctx` for `smoothStream`, `experimental_toolApprovalSecret`, a `needsApproval` that looks something up, and URLs in prompts without `experimental_download: durableDownload(ctx)`'

function specificationOf(model: { readonly specificationVersion?: string }): string {
  return model.specificationVersion ?? 'v3'
}

interface ResponseMetadata {
  readonly id?: string | undefined
  readonly modelId?: string | undefined
  readonly timestamp?: Date | undefined
}

/** Keeps what every replay must see again. The SDK would invent a missing id and time at each replay. */
function keepResponse(response: ResponseMetadata | undefined, key: string): ResponseMetadata {
  return {
    id: response?.id ?? key,
    modelId: response?.modelId,
    timestamp: response?.timestamp ?? new Date(),
  }
}

/** Completes the metadata of a stream, for the same reason. */
function withMetadata(parts: readonly StreamPart[], key: string): StreamPart[] {
  const given = parts.find(({ type }) => type === 'response-metadata')
  const metadata = { type: 'response-metadata', ...keepResponse(given as ResponseMetadata | undefined, key) }
  const rest = parts.filter((part) => part !== given)
  const begin = rest[0]?.type === 'stream-start' ? 1 : 0
  return [...rest.slice(0, begin), metadata as StreamPart, ...rest.slice(begin)]
}
