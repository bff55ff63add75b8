import { type ImageModelMiddleware, wrapImageModel } from 'ai'
import { checkCtx, checkModel, checkOptionNames, modelOptions } from './checks.ts'
import { tooLarge } from './files.ts'
import { callModel, type ModelCtx, type ModelOptions } from './model-call.ts'

type WrapOptions = Parameters<typeof wrapImageModel>[0]
const maxBytes = 2 * 1_024 * 1_024 - 64 * 1_024

/**
 * Makes an image model durable: every call is recorded as one operation of the run, with its images.
 *
 * The images of a call must fit into a payload of 2 MiB. For larger ones, generate and store them in a step, and return
 * their URLs.
 * @example const { image } = await generateImage({ model: durableImageModel(ctx, openai.image('gpt-image-1')), prompt })
 */
export function durableImageModel(
  ctx: ModelCtx,
  model: WrapOptions['model'],
  options: ModelOptions = {},
): ReturnType<typeof wrapImageModel> {
  checkCtx('durableImageModel', ctx, 'agent')
  checkOptionNames('durableImageModel', options, modelOptions)
  checkModel('durableImageModel', model, 'doGenerate')
  const wrapGenerate: ImageModelMiddleware['wrapGenerate'] = ({ params, model: inner }) =>
    callModel(ctx, model, options, params, async (call, own) => {
      const { response, ...result } = await inner.doGenerate(own)
      const { usage } = result
      call.usage({
        model: response.modelId,
        inputTokens: usage?.inputTokens,
        outputTokens: usage?.outputTokens,
      })
      const bytes = result.images.reduce((sum: number, image: string | Uint8Array) => sum + image.length, 0)
      if (bytes > maxBytes) throw tooLarge(bytes)
      const { timestamp, modelId } = response
      return { ...result, response: { timestamp, modelId, headers: undefined } }
    })
  const middleware = {
    specificationVersion: model.specificationVersion,
    wrapGenerate,
  } as ImageModelMiddleware
  return wrapImageModel({ model, middleware })
}
