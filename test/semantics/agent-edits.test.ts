import { agent, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const logger = { debug() {}, info() {}, warn() {}, error() {} }

function makeWriter(output: z.ZodType, fails = false) {
  const writer = agent({ name: 'writer', input: z.string(), output, retry: false }, async () => {
    if (fails) throw new Error('the model is down')
    return { title: 'Tides', words: 3 }
  })
  return procedure({ name: 'write' }, (ctx) => ctx.agent(writer, 'tides'))
}

const draft = z.object({ title: z.string(), words: z.number() })

test('an edited output of an agent has to match its schema, in a fork and in a fork of that', async () => {
  const write = makeWriter(draft)
  await using engine = await testEngine({ procedures: [write], logger })
  let of = (await engine.run(write)).id
  await engine.get(write, of).result()
  for (const title of ['Ebb', 'Flow']) {
    const wrongs: unknown[] = [
      { title },
      { title, words: 'three' },
      title,
      { output: { title, words: 3 }, usage: [] },
    ]
    for (const wrong of wrongs) {
      const { code, message } = await refusalOf(engine.fork(of, { position: 1 }, { edit: { 0: wrong } }))
      expect(code).toBe('option-invalid')
      expect(message).toContain(`agent 'writer'`)
    }
    const fork = await engine.fork(of, { position: 1 }, { edit: { 0: { title, words: 1 } } })
    expect(await engine.get(write, fork.id).result()).toEqual({ title, words: 1 })
    of = fork.id
  }
})

test('so has the output that replaces the failure of an agent', async () => {
  const write = makeWriter(draft, true)
  await using engine = await testEngine({ procedures: [write], logger })
  const run = await engine.run(write)
  await refusalOf(run.result())
  expect(await refusalOf(engine.fork(run.id, { position: 1 }, { edit: { 0: 'Ebb' } }))).toMatchObject({
    code: 'option-invalid',
  })
  const fork = await engine.fork(run.id, { position: 1 }, { edit: { 0: { title: 'Ebb', words: 1 } } })
  expect(await engine.get(write, fork.id).result()).toEqual({ title: 'Ebb', words: 1 })
})

test('a schema that is too large to be kept checks no edit, and what it returns is as before', async () => {
  const large = z.object({ title: z.string().describe('x'.repeat(5_000)), words: z.number() })
  const write = makeWriter(large)
  await using engine = await testEngine({ procedures: [write], logger })
  const run = await engine.run(write)
  await run.result()
  const fork = await engine.fork(run.id, { position: 1 }, { edit: { 0: 'anything' } })
  expect(await engine.get(write, fork.id).result()).toBe('anything')
})

test('the log shows what the agent returned, without the schema', async () => {
  const write = makeWriter(draft)
  await using engine = await testEngine({ procedures: [write] })
  const run = await engine.run(write)
  await run.result()
  const { execution_log } = await engine.log(run.id)
  expect(execution_log[0]?.result).toEqual({
    ...{ output: { title: 'Tides', words: 3 }, usage: [] },
    input: { value: 'tides' },
  })
})
