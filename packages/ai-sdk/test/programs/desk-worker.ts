// A worker with a tool loop of twelve turns. Every call to the model and every tool appends a line before it returns.
import { appendFileSync } from 'node:fs'
import { createEngine, procedure } from '@pawl/core'
import { postgres } from '@pawl/storage-postgres'
import { sqlite } from '@pawl/storage-sqlite'
import { generateText, stepCountIs, tool } from 'ai'
import { z } from 'zod'
import { durableModel, durableTools, idempotencyKeyOf } from '../../src/index.ts'
import { call, Mock, reply, text } from '../support/models.ts'

const { DESK_STORE = '', DESK_FILE = '', DESK_RUN = '' } = process.env
const turns = 12
const pause = () => new Promise((resolve) => setTimeout(resolve, Math.random() * 10))

function note(what: string, key: string): void {
  appendFileSync(DESK_FILE, `\n${JSON.stringify({ what, key })}`)
}

const model = new Mock({
  provider: 'mock',
  modelId: 'desk',
  doGenerate: async ({ prompt }) => {
    const turn = prompt.filter(({ role }) => role === 'tool').length
    note(`model ${turn}`, '')
    await pause()
    return reply(turn < turns ? [call('work', { turn }, `call-${turn}`)] : [text('done')])
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
const desk = procedure({ name: 'desk' }, async (ctx) => {
  const { text: said } = await generateText({
    model: durableModel(ctx, model),
    ...durableTools(ctx, { work }),
    stopWhen: stepCountIs(turns + 2),
    prompt: 'x',
  })
  return said
})

const store = DESK_STORE.startsWith('postgres')
  ? postgres(DESK_STORE, { schema: process.env['DESK_SCHEMA'] ?? 'pawl' })
  : sqlite(DESK_STORE)
const engine = await createEngine({ store, procedures: [desk], lease: '1s' })
const run = await engine.run(desk, undefined, { id: DESK_RUN })
console.log('working')
console.log(`result ${JSON.stringify(await run.result())}`)
await engine.stop()
process.exit()
