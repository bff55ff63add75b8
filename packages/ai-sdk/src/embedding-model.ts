import { type EmbeddingModelMiddleware, wrapEmbeddingModel } from 'ai'
import { checkCtx, checkModel, checkOptionNames, modelOptions } from './checks.ts'
import { callModel, type ModelCtx, type ModelOptions } from './model-call.ts'

type WrapOptions = Parameters<typeof wrapEmbeddingModel>[0]

/**
 * Makes an embedding model durable: every call is recorded as one operation of the run, with its tokens.
 *
 * A call's embeddings must fit into a payload of 2 MiB: about 250,000 numbers. Embed large sets in several calls.
 * @example const { embedding } = await embed({ model: durableEmbeddingModel(ctx, openai.embedding('small')), value })
 */
export function durableEmbeddingModel(
  ctx: ModelCtx,
  model: WrapOptions['model'],
  options: ModelOptions = {},
): ReturnType<typeof wrapEmbeddingModel> {
  checkCtx('durableEmbeddingModel', ctx, 'agent')
  checkOptionNames('durableEmbeddingModel', options, modelOptions)
  checkModel('durableEmbeddingModel', model, 'doEmbed')
  const wrapEmbed: EmbeddingModelMiddleware['wrapEmbed'] = ({ params, model: inner }) =>
    callModel(ctx, model, options, params, async (call, own) => {
      const { response: _, ...result } = await inner.doEmbed(own)
      call.usage({ model: model.modelId, inputTokens: result.usage?.tokens })
      return result
    })
  const middleware = {
    specificationVersion: model.specificationVersion,
    wrapEmbed,
  } as EmbeddingModelMiddleware
  return wrapEmbeddingModel({ model, middleware })
}
