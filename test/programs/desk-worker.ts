// A worker with a tool loop of twelve turns. Every call to the model and every tool appends a line before it returns. In every
// second turn the tool needs an approval, and the model repeats the id of its call.
import { appendFileSync } from 'node:fs'
import { durableModel, durableTools, idempotencyKeyOf } from '@pawl/ai-sdk'
import { createEngine, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { generateText, stepCountIs, tool } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import { z } from 'zod'
import { sqliteStore } from '../support/sqlite.ts'

const { DESK_STORE = '', DESK_FILE = '', DESK_RUN = '' } = process.env
const turns = 12
const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 10))

function note(what: string, key: string, cents?: number): void {
  appendFileSync(DESK_FILE, `\n${JSON.stringify({ what, key, cents })}`)
}

type Reply = Awaited<ReturnType<MockLanguageModelV4['doGenerate']>>

function reply(content: Reply['content'], unified: Reply['finishReason']['unified']): Reply {
  const inputTokens = { total: 10, noCache: 10, cacheRead: 0, cacheWrite: 0 }
  const usage = { inputTokens, outputTokens: { total: 3, text: 3, reasoning: 0 } }
  return { content, finishReason: { unified, raw: unified }, usage, warnings: [] }
}

const model = new MockLanguageModelV4({
  provider: 'mock',
  modelId: 'desk',
  doGenerate: async ({ prompt }) => {
    const turn = prompt.filter(({ role }) => role === 'tool').length
    note(`model ${turn}`, '')
    await pause()
    if (turn >= turns) return reply([{ type: 'text', text: 'done' }], 'stop')
    const call =
      turn % 2 === 0
        ? { toolCallId: `call-${turn}`, toolName: 'work', input: JSON.stringify({ turn }) }
        : { toolCallId: 'refund', toolName: 'refund', input: JSON.stringify({ turn, cents: 4_500 }) }
    return reply([{ type: 'tool-call', ...call }], 'tool-calls')
  },
})
const work = tool({
  inputSchema: z.object({ turn: z.number() }),
  execute: async ({ turn }, options) => {
    note(`tool ${turn}`, idempotencyKeyOf(options) ?? '')
    await pause()
    return { turn }
  },
})
const refund = tool({
  inputSchema: z.object({ turn: z.number(), cents: z.number() }),
  needsApproval: true,
  execute: async ({ turn, cents }, options) => {
    note(`tool ${turn}`, idempotencyKeyOf(options) ?? '', cents)
    await pause()
    return { turn, cents }
  },
})
const desk = procedure({ name: 'desk' }, async (ctx) => {
  const { text: said } = await generateText({
    model: durableModel(ctx, model),
    ...durableTools(ctx, { work, refund }, { approve: { editable: ['cents'] } }),
    stopWhen: stepCountIs(turns + 2),
    prompt: 'x',
  })
  return said
})

const store = DESK_STORE.startsWith('postgres')
  ? postgres(DESK_STORE, { schema: process.env['DESK_SCHEMA'] ?? 'pawl' })
  : sqliteStore(DESK_STORE)
// The kills come from outside: on a busy machine several may hit the run before it has written anything.
const engine = await createEngine({ store, procedures: [desk], lease: '1s', maxCrashes: 10_000 })
const run = await engine.run(desk, undefined, { id: DESK_RUN })
console.log('working')
console.log(`result ${JSON.stringify(await run.result())}`)
await engine.stop()
process.exit()
