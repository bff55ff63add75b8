import type { Ctx } from '@pawl/core'
import { expect, test } from 'vitest'
import { durableEmbeddingModel, durableImageModel, durableModel, durableTools } from '../src/index.ts'
import { Mock } from './support/models.ts'

const model = new Mock({ provider: 'mock', modelId: 'm' })
const ctx = { agent() {}, step() {}, human: {}, version: () => 2 } as unknown as Ctx

test.each([
  [
    'of a model',
    () => durableModel(ctx, model, { retries: 3 } as object),
    /no option retries in the options of durableModel.*Known options: name, retry, timeout, files/s,
  ],
  [
    'of tools',
    () => durableTools(ctx, {}, { aprove: {} } as object),
    /no option aprove in the options of durableTools.*Did you mean approve\?/s,
  ],
])('a misspelt option %s is refused', (_, call, message) => {
  expect(call).toThrow(message)
})

test.each([
  ['durableModel', () => durableModel(undefined as never, model)],
  ['durableTools', () => durableTools({} as never, {})],
  ['durableEmbeddingModel', () => durableEmbeddingModel(undefined as never, {} as never)],
  ['durableImageModel', () => durableImageModel(null as never, {} as never)],
])('%s says that its context is missing', (name, call) => {
  expect(call).toThrow(`The option ctx of ${name}`)
  expect(call).toThrow('Pass the `ctx` of the procedure first')
})

test.each([
  ['durableModel', () => durableModel(ctx, undefined as never)],
  ['durableEmbeddingModel', () => durableEmbeddingModel(ctx, undefined as never)],
  ['durableImageModel', () => durableImageModel(ctx, {} as never)],
])('%s says that its model is missing', (name, call) => {
  expect(call).toThrow(`The option model of ${name}`)
})
