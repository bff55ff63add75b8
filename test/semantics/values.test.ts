import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'

const told = procedure(
  { name: 'told', input: z.object({ text: z.string() }), state: { size: z.number(), copy: z.string() } },
  async (ctx, { text }) => {
    ctx.expose('size', text.length)
    ctx.expose('copy', text)
    await ctx.sleep('1h')
    return text.toUpperCase()
  },
)

test('status reads the values of a run only if they are asked for', async () => {
  await using engine = await testEngine({ procedures: [told] })
  const run = await engine.run(told, { text: 'abc' }, { id: 't:1' })
  const live = await run.status({ values: true })
  expect(live.values).toMatchObject({ input: { text: 'abc' }, output: undefined, omitted: [] })
  await run.result()
  const { values } = await run.status({ values: true })
  expect(values).toEqual({
    input: { text: 'abc' },
    output: 'ABC',
    exposed: [
      { name: 'copy', at: expect.any(Date), value: 'abc' },
      { name: 'size', at: expect.any(Date), value: 3 },
    ],
    omitted: [],
  })
  expect(await run.status()).not.toHaveProperty('values')
  expect((await engine.list()).items[0]).not.toHaveProperty('values')
})

test('status leaves out values of more than 64 KiB, and names them', async () => {
  await using engine = await testEngine({ procedures: [told] })
  const run = await engine.run(told, { text: 'x'.repeat(100_000) })
  await run.result()
  const { values } = await run.status({ values: true })
  expect(values?.omitted.toSorted()).toEqual(['exposed.copy', 'input', 'output'])
  expect(values).toMatchObject({ input: undefined, output: undefined })
  expect(values?.exposed).toMatchObject([
    { name: 'copy', value: undefined },
    { name: 'size', value: 100_000 },
  ])
})
