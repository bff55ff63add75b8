import { procedure } from '@pawl/core'
import { type TestEngine, testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const talking = procedure(
  {
    name: 'talking',
    signals: { go: z.void(), hello: z.void(), later: z.string() },
    updates: { set: { input: z.string(), output: z.string() } },
  },
  async (ctx) => {
    ctx.on('set', async (value) => {
      await ctx.receive('go')
      return `${value} is set`
    })
    await ctx.receive('hello')
    return ctx.receive('later')
  },
)

async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setImmediate(resolve))
}

/** Makes a fork of a run that has taken an update and not answered it, and returns both. */
async function setUp(engine: TestEngine) {
  const run = await engine.run(talking, undefined, { id: 'r' })
  const reply = run.update('set', 'of the original')
  await until(async () => (await run.status()).waitingFor.length === 2)
  const { execution_log } = await engine.log('r')
  const position = execution_log.find(({ status, type }) => status === 'open' && type === 'signal')?.position
  const fork = engine.get(talking, (await engine.fork('r', { position: position ?? -1 }, { id: 'f' })).id)
  await until(async () => (await fork.status()).waitingFor.length === 2)
  const answerOriginal = async () => {
    await run.signal('go')
    expect(await reply).toBe('of the original is set')
  }
  return { fork, answerOriginal }
}

test('a fork answers no message of its own for an update that its original has taken', async () => {
  await using engine = await testEngine({ procedures: [talking] })
  const { fork, answerOriginal } = await setUp(engine)
  await fork.signal('later', 'for the fork')
  await fork.signal('go')
  await until(async () => (await fork.status()).waitingFor.length === 1)
  await engine.crash()
  await fork.signal('hello')
  expect(await fork.result()).toBe('for the fork')
  await answerOriginal()
})
