import { readFile } from 'node:fs/promises'
import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import * as ai from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { durableModel, durableTools } from '../src/index.ts'
import { call, isSeven, Mock, type Request, reply, steps, streamed, text } from './support/models.ts'
import { play } from './support/play.ts'

const words = new Mock({
  provider: 'mock',
  modelId: 'words',
  doStream: async () => streamed([text('one two three four')]),
  doGenerate: async () => reply([text('hello')]),
})

/** Executes a procedure until it is stuck, and returns why. */
async function failureOf(body: (ctx: Ctx) => Promise<unknown>): Promise<{ code: string; message: string }> {
  const desk = procedure({ name: 'desk' }, body)
  await using engine = await testEngine({
    procedures: [desk],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    humans: [{ ask: /./, answer: { approved: true } }],
  })
  const run = await engine.run(desk, undefined, { id: 'desk-1' })
  const seen = await run.result({ timeout: '1d' }).catch((error: { code: string }) => error)
  const { status, failure } = await run.status()
  expect([status, (seen as { code?: string }).code]).toContain('stuck')
  return failure as { code: string; message: string }
}

test('smoothStream waits for timers, which is found as a foreign await', async () => {
  const { code, message } = await failureOf(async (ctx) => {
    const { textStream } = ai.streamText({
      model: durableModel(ctx, words),
      experimental_transform: ai.smoothStream({ delayInMs: 5 }),
      prompt: 'x',
    })
    for await (const _ of textStream);
  })
  expect(code).toBe('foreign-await')
  expect(message).toMatch(/it used setTimeout\(\)\. The AI SDK waits outside `ctx` for `smoothStream`/)
})

test('a needsApproval that looks something up is found as a foreign await, and the error names it', async () => {
  const pay = ai.tool({
    inputSchema: z.object({}),
    needsApproval: async () => (await readFile(import.meta.filename)).length > 0,
    execute: async () => 'paid',
  })
  const model = new Mock({
    provider: 'mock',
    modelId: 'm',
    doGenerate: async () => reply([call('pay', {}, 'c1')]),
  })
  const { code, message } = await failureOf(async (ctx) => {
    const tools = durableTools(ctx, { pay })
    await ai.generateText({ ...tools, model: durableModel(ctx, model), stopWhen: steps(2), prompt: 'x' })
  })
  expect(code).toBe('foreign-await')
  expect(message).toContain('a `needsApproval` that looks something up')
})

test('a URL of a prompt without durableDownload is refused, and the error names the option', async () => {
  const desk = procedure({ name: 'desk' }, async (ctx) => {
    await ai.generateText({
      model: durableModel(ctx, words),
      messages: [
        { role: 'user', content: [{ type: 'image', image: new URL('https://files.example/a.png') }] },
      ],
    })
  })
  await using engine = await testEngine({
    procedures: [desk],
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  })
  const run = await engine.run(desk)
  const error = await run.result().catch((error) => error)
  // Version 6 sets a timer before it fetches.
  expect(String(error)).toMatch(isSeven ? /Failed to download https:.*fetch\(\)/ : /it used setTimeout\(\)/)
  expect(String(error)).toContain('without `experimental_download: durableDownload(ctx)`')
})

test.runIf(isSeven)('experimental_toolApprovalSecret is found as a foreign await', async () => {
  const pay = ai.tool({ inputSchema: z.object({}), execute: async () => 'paid', needsApproval: true })
  const model = new Mock({
    provider: 'mock',
    modelId: 'm',
    doGenerate: async ({ prompt }: Request) =>
      reply(prompt.some(({ role }) => role === 'tool') ? [text('done')] : [call('pay', {}, 'c1')]),
  })
  const { code, message } = await failureOf(async (ctx) => {
    durableTools(ctx, { pay })
    await ai.generateText({
      model: durableModel(ctx, model),
      tools: { pay },
      experimental_toolApprovalSecret: 'secret',
      stopWhen: steps(5),
      prompt: 'x',
    } as Parameters<typeof ai.generateText>[0])
  })
  expect(code).toBe('foreign-await')
  expect(message).toContain('`experimental_toolApprovalSecret`')
})

test('a timeout of the SDK ends the attempts of a call', async () => {
  let attempts = 0
  const slow = new Mock({
    provider: 'mock',
    modelId: 'slow',
    doGenerate: ({ abortSignal }: Request) => {
      attempts += 1
      return new Promise((_, reject) =>
        abortSignal?.addEventListener('abort', () => reject(abortSignal.reason)),
      )
    },
  })
  const { result } = await play(async (ctx) => {
    const options = { model: durableModel(ctx, slow), timeout: 20, prompt: 'x' }
    return ai.generateText(options as Parameters<typeof ai.generateText>[0])
  })
  expect(attempts).toBe(1)
  expect(String(result)).toContain("Step 'mock/slow' failed after 1 attempt")
})
