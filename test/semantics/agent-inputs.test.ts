import { agent, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const input = z.object({ prompt: z.string() })
const writer = agent({ name: 'writer', input, output: z.string() }, ({ prompt }) =>
  Promise.resolve(prompt.slice(0, 5)),
)
const failing = agent({ name: 'failing', input, output: z.string(), retry: false }, () =>
  Promise.reject(new Error('overloaded')),
)

async function logOf(used: typeof writer, prompt: string) {
  const asking = procedure({ name: 'asking' }, async (ctx) => void (await ctx.agent(used, { prompt })))
  await using engine = await testEngine({ procedures: [asking] })
  const run = await engine.run(asking)
  await run.result().catch(() => {})
  return (await engine.log(run.id)).execution_log[0]?.result
}

test('the log keeps what an agent was given, beside what it returned', async () => {
  expect(await logOf(writer, 'Write a letter')).toEqual({
    ...{ output: 'Write', usage: [] },
    input: { value: { prompt: 'Write a letter' } },
  })
})

test('of a large input it keeps the beginning, the size and the digest', async () => {
  expect(await logOf(writer, 'long '.repeat(2_000))).toMatchObject({
    input: {
      bytes: expect.any(Number),
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      head: expect.stringMatching(/^\{"prompt":"long long /),
    },
  })
})

test('and of a call that fails', async () => {
  expect(await logOf(failing, 'Write')).toMatchObject({
    error: { code: 'step-failed' },
    input: { value: { prompt: 'Write' } },
  })
})
