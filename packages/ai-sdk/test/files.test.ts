import * as ai from 'ai'
import * as doubles from 'ai/test'
import { expect, test } from 'vitest'
import {
  durableDownload,
  durableEmbeddingModel,
  durableImageModel,
  durableModel,
  type ModelFile,
} from '../src/index.ts'
import { isSeven, Mock, reply, text } from './support/models.ts'
import { lives, play } from './support/play.ts'

function painter(bytes: number) {
  const data = new Uint8Array(bytes).fill(7)
  const file = { type: 'file', mediaType: 'image/png', data: isSeven ? { type: 'data', data } : data }
  return new Mock({ provider: 'mock', modelId: 'painter', doGenerate: async () => reply([file]) })
}

test.each(lives)('a small file is kept in the log: %s', async (life) => {
  const { result } = await play(async (ctx) => {
    const { files } = await ai.generateText({ model: durableModel(ctx, painter(1_000)), prompt: 'x' })
    return files.map(({ mediaType, uint8Array }) => [mediaType, uint8Array.length])
  }, life)
  expect(result).toEqual([['image/png', 1_000]])
})

test('a file above the limit of a payload fails once, with the remedy', async () => {
  const { result } = await play(async (ctx) => {
    await ai.generateText({ model: durableModel(ctx, painter(3 * 1_024 * 1_024)), prompt: 'x' })
  })
  expect(result).toMatchObject({ code: 'run-failed' })
  expect(String(result)).toContain('after 1 attempt')
  expect(String(result)).toContain('Set the option `files` of the durable model')
})

test('with `files` the run keeps the reference of a large file', async () => {
  const stored: ModelFile[] = []
  const files = async (file: ModelFile) => {
    stored.push(file)
    return `https://files.example/${file.key}.png`
  }
  const { result } = await play(async (ctx) => {
    const model = durableModel(ctx, painter(3 * 1_024 * 1_024), { files })
    const { files: made } = await ai.generateText({ model, prompt: 'x' })
    return made.map(({ uint8Array }) => new TextDecoder().decode(uint8Array))
  })
  expect(result).toEqual([`https://files.example/${stored[0]?.key}.png`])
  expect(stored).toMatchObject([{ mediaType: 'image/png' }])
  expect(stored[0]?.data).toHaveLength(3 * 1_024 * 1_024)
})

test.each(lives)('an embedding is recorded with its tokens: %s', async (life) => {
  let calls = 0
  const { MockEmbeddingModelV4, MockEmbeddingModelV3 } = doubles as unknown as Record<
    string,
    new (
      o: object,
    ) => Parameters<typeof durableEmbeddingModel>[1]
  >
  const Embedder = (MockEmbeddingModelV4 ?? MockEmbeddingModelV3) as NonNullable<typeof MockEmbeddingModelV4>
  const model = new Embedder({
    provider: 'mock',
    modelId: 'embedder',
    maxEmbeddingsPerCall: 10,
    doEmbed: async () => {
      calls += 1
      return { embeddings: [[1, 2]], usage: { tokens: 4 }, warnings: [] }
    },
  })
  const { result, log } = await play(async (ctx) => {
    return (await ai.embed({ model: durableEmbeddingModel(ctx, model), value: 'x' })).embedding
  }, life)
  expect(result).toEqual([1, 2])
  expect(calls).toBe(1)
  expect(log).toMatchObject([
    { type: 'llm', name: 'mock/embedder', result: { usage: [{ model: 'embedder', inputTokens: 4 }] } },
  ])
})

test.each(lives)('an image is recorded: %s', async (life) => {
  let calls = 0
  const { MockImageModelV4, MockImageModelV3 } = doubles as unknown as Record<
    string,
    new (
      o: object,
    ) => Parameters<typeof durableImageModel>[1]
  >
  const Painter = (MockImageModelV4 ?? MockImageModelV3) as NonNullable<typeof MockImageModelV4>
  const model = new Painter({
    provider: 'mock',
    modelId: 'images',
    doGenerate: async () => {
      calls += 1
      return {
        images: ['aGk='],
        warnings: [],
        response: { timestamp: new Date(0), modelId: 'images', headers: {} },
      }
    },
  })
  const { result } = await play(async (ctx) => {
    const generate =
      'generateImage' in ai
        ? ai.generateImage
        : (ai as { experimental_generateImage?: never }).experimental_generateImage
    const { image } = await (generate as typeof ai.generateImage)({
      model: durableImageModel(ctx, model),
      prompt: 'x',
    })
    return image.base64
  }, life)
  expect(result).toBe('aGk=')
  expect(calls).toBe(1)
})

// The SDK refuses loopback addresses, and only version 7 accepts a transport.
test.runIf(isSeven).each(lives)(
  'a URL of a prompt that the model cannot read is downloaded in a step: %s',
  async (life) => {
    const { createServer } = await import('node:http')
    let requests = 0
    const server = createServer((_, response) => {
      requests += 1
      response.setHeader('content-type', 'image/png').end('picture')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const prompts: unknown[] = []
    const model = new Mock({
      provider: 'mock',
      modelId: 'm',
      doGenerate: async ({ prompt }) => {
        prompts.push(prompt)
        return reply([text('seen')])
      },
    })
    try {
      const { result, log, lines } = await play(async (ctx) => {
        const answer = await ai.generateText({
          model: durableModel(ctx, model),
          experimental_download: durableDownload(ctx, {
            fetch: (_, init) => fetch(`http://127.0.0.1:${port}/a.png`, init),
          }),
          messages: [
            { role: 'user', content: [{ type: 'image', image: new URL('https://files.example/a.png') }] },
          ],
        })
        return answer.text
      }, life)
      expect(result, lines.join('\n')).toBe('seen')
      expect(requests).toBe(1)
      expect(log.map(({ type, name }) => `${type} ${name}`)).toEqual([
        'step download files.example',
        'llm mock/m',
      ])
    } finally {
      server.close()
    }
  },
)
