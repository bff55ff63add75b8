import { procedure, ref } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const counted = z.any()
const signals = { go: counted }
const keep = procedure({ name: 'keep', input: counted, signals }, async (ctx, given) => {
  const answer = await ctx.human.input('How many?', counted)
  return [given, answer, await ctx.receive('go')]
})
const tell = procedure({ name: 'tell', input: counted }, async (_, given) => given)

describe('what a client was called with', () => {
  test('arguments count as they were at the call, even if they are changed afterwards', async () => {
    await using engine = await testEngine({ procedures: [keep] })
    const count = { n: 1 }
    const starting = engine.run(keep, count, { id: 'a' })
    count.n = 2
    const run = await starting
    const ask = await engine.inbox.next()
    const form = { value: count }
    const answering = engine.inbox.answer(ask.id, form, { as: 'user:ana' })
    count.n = 3
    await answering
    const sending = run.signal('go', count)
    count.n = 4
    await sending
    expect(await run.result()).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
  })

  test('arguments count as they were for each of several calls that share them, and for a procedure known by name', async () => {
    await using engine = await testEngine({ procedures: [tell] })
    const order = { number: 0 }
    const starting = []
    for (; order.number < 3; order.number++)
      starting.push(engine.run(tell, order), engine.run(ref<typeof tell>('tell'), order))
    const results = await Promise.all(starting.map((run) => run.then((handle) => handle.result())))
    expect(results).toEqual([0, 0, 1, 1, 2, 2].map((number) => ({ number })))
  })

  test('arguments are equal whichever side knew the schema, even if a map has its members in another order', async () => {
    const input = z.object({
      m: z.map(z.string(), z.object({ x: z.number(), y: z.number() })),
      n: z.string().transform(Number),
    })
    const mapped = procedure({ name: 'mapped', input }, async (_, { n }) => n)
    await using engine = await testEngine({ procedures: [mapped] })
    const one = { m: new Map([['k', { x: 1, y: 2 }]]), n: '5' }
    const other = { m: new Map([['k', { y: 2, x: 1 }]]), n: '5' }
    await engine.run(ref<typeof mapped>('mapped'), one, { id: 'a' })
    expect(await (await engine.run(mapped, other, { id: 'a' })).result()).toBe(5)
  })

  test('arguments count as they were when two runs are compared', async () => {
    await using engine = await testEngine({ procedures: [keep] })
    const count = { n: 1 }
    await engine.run(keep, { n: 1 }, { id: 'a' })
    const again = engine.run(keep, count, { id: 'a' })
    count.n = 2
    expect((await again).id).toBe('a')
    const other = engine.run(keep, count, { id: 'a' })
    count.n = 1
    expect(await refusalOf(other)).toMatchObject({ code: 'id-taken' })
  })
})
