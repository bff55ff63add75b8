import type { Ctx } from '@pawl/core'
import { embed, generateText, streamText, ToolLoopAgent, tool } from 'ai'
import { describe, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import {
  durableDownload,
  durableEmbeddingModel,
  durableModel,
  durableTools,
  idempotencyKeyOf,
} from '../src/index.ts'

declare const ctx: Ctx
declare const model: Parameters<typeof durableModel>[1]
declare const embedder: Parameters<typeof durableEmbeddingModel>[1]

const refund = tool({
  inputSchema: z.object({ cents: z.number() }),
  needsApproval: ({ cents }) => cents > 100,
  execute: async ({ cents }, options) => ({ paid: cents, key: idempotencyKeyOf(options) }),
})

describe('types', () => {
  test('durable models and tools fit into the functions of the SDK', () => {
    const durable = durableTools(
      ctx,
      { refund },
      { approve: { to: 'group:support', editable: ['cents'], timeout: '1h' } },
    )
    const experimental_download = durableDownload(ctx)
    void generateText({ model: durableModel(ctx, model), ...durable, experimental_download, prompt: 'x' })
    void streamText({
      model: durableModel(ctx, 'some/model', { timeout: '1m', retry: false }),
      ...durable,
      prompt: 'x',
    })
    void new ToolLoopAgent({ model: durableModel(ctx, model), ...durable })
    void embed({ model: durableEmbeddingModel(ctx, embedder), value: 'x' })
  })

  test('the tools keep their types', () => {
    expectTypeOf(durableTools(ctx, { refund }).tools).toEqualTypeOf<{ refund: typeof refund }>()
    expectTypeOf(idempotencyKeyOf({})).toEqualTypeOf<string | undefined>()
  })

  test('wrong options are refused', () => {
    // @ts-expect-error: there is no such option
    durableModel(ctx, model, { tiemout: '1m' })
    // @ts-expect-error: the key of an approval is the id of the tool call
    durableTools(ctx, { refund }, { approve: { key: 'mine' } })
    // @ts-expect-error: onTimeout needs a timeout
    durableTools(ctx, { refund }, { approve: { onTimeout: 'fail' } })
  })
})
