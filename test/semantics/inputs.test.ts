import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greet, refusalOf } from './support.ts'

describe('an input', () => {
  test('an invalid input starts no run', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    expect(await refusalOf(engine.run(greet, { name: 5 } as never))).toMatchObject({
      code: 'input-invalid',
      details: { issues: [{ path: 'name' }] },
    })
    expect((await engine.list()).items).toEqual([])
  })

  test('an input that cannot be stored starts no run, and the error names the path', async () => {
    const any = procedure({ name: 'any', input: z.any() }, async () => 1)
    await using engine = await testEngine({ procedures: [any] })
    expect(await refusalOf(engine.run(any, { list: [Symbol('s')] }))).toMatchObject({
      code: 'payload-refused',
      details: { path: 'input.list[0]' },
    })
    expect((await engine.list()).items).toEqual([])
  })

  test('an input is refused if the procedure takes none', async () => {
    const none = procedure({ name: 'none' }, async (_, input) => input === undefined)
    await using engine = await testEngine({ procedures: [none] })
    expect(await refusalOf(engine.run(none, { id: 'a' } as never))).toMatchObject({
      code: 'input-invalid',
      message: expect.stringContaining('pass undefined instead, and options such as id after it'),
    })
    expect(await (await engine.run(none)).result()).toBe(true)
  })

  test('the procedure gets the parsed input, decoded afresh on every replay', async () => {
    const shout = procedure(
      {
        name: 'shout',
        input: z.object({ words: z.array(z.string().transform((word) => word.toUpperCase())) }),
      },
      async (ctx, input) => {
        input.words.push('and')
        await ctx.sleep('1h')
        input.words.push('more')
        return input.words
      },
    )
    await using engine = await testEngine({ procedures: [shout] })
    await engine.crash('every')
    expect(await (await engine.run(shout, { words: ['a', 'b'] })).result()).toEqual(['A', 'B', 'and', 'more'])
  })
})
