import { createClient, decider, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greet, hour, refusalOf, start } from './support.ts'

describe('run ids', () => {
  test('an id started twice with the same input is one run', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const runs = await Promise.all(
      Array.from({ length: 20 }, () => engine.run(greet, { name: 'Ada' }, { id: 'a' })),
    )
    expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(['a']))
    // Defaults are part of the input: said or not, it is the same.
    await engine.run(greet, { loud: false, name: 'Ada' }, { id: 'a' })
    expect((await engine.list()).items).toHaveLength(1)
    expect(await runs[0]?.result()).toBe('Ada')
    expect(await (await engine.run(greet, { name: 'Ada' }, { id: 'a' })).result()).toBe('Ada')
  })

  test.each([
    ['an object with the name of one', { name: 'greet' }],
    ['its name', 'greet'],
    ['an error', new Error('greet')],
    ['an agent', decider('greet', async () => ({ choice: 'x', rationale: '' }))],
  ])('run refuses %s in place of a procedure', async (_, given) => {
    await using engine = await testEngine({ procedures: [greet] })
    const client = createClient({ store: memory() })
    for (const side of [engine, client]) {
      const refusal = await refusalOf(side.run(given as unknown as typeof greet, { name: 'Ada' }))
      expect(refusal).toMatchObject({ code: 'option-invalid', details: { option: 'procedure of run' } })
    }
    await client.stop()
  })

  test('a generated id begins with the time and ends with 64 random bits', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const draw = async () => (await engine.run(greet, { name: 'Ada' })).id
    const ids = [await draw(), await draw()]
    await engine.advance('2h')
    ids.push(await draw())
    expect(ids.map((id) => Number.parseInt(id.slice(0, 12), 16))).toEqual([start, start, start + 2 * hour])
    expect(ids.map((id) => id.slice(12))).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-f]{16}$/)))
    expect(new Set(ids.map((id) => id.slice(12))).size).toBe(3)
  })

  test('an id with another input or another procedure is refused as taken', async () => {
    const other = procedure({ name: 'other' }, async () => 1)
    await using engine = await testEngine({ procedures: [greet, other] })
    await engine.run(greet, { name: 'Ada' }, { id: 'a' })
    expect(await refusalOf(engine.run(greet, { name: 'Bob' }, { id: 'a' }))).toMatchObject({
      code: 'id-taken',
      details: { id: 'a' },
    })
    expect(await refusalOf(engine.run(other, undefined, { id: 'a' }))).toMatchObject({ code: 'id-taken' })
  })

  test('inputs that only look alike are different inputs', async () => {
    const any = procedure({ name: 'any', input: z.unknown() }, async () => 1)
    await using engine = await testEngine({ procedures: [any] })
    const unlike: readonly unknown[] = [
      {},
      [],
      [undefined],
      new Map(),
      new Map([['a', 1]]),
      new Set(),
      new Set([1]),
      { a: 1 },
      { 0: 7 },
      new Uint8Array([7]),
      new Uint16Array([7]),
      new Float32Array([7]),
      new Date(7),
    ]
    for (const [i, input] of unlike.entries()) await engine.run(any, input, { id: `${i}` })
    for (const [i, input] of unlike.entries())
      for (const [j] of unlike.entries()) {
        const outcome = await engine.run(any, input, { id: `${j}` }).then(
          () => 'the same',
          ({ code }: { readonly code: string }) => code,
        )
        expect([input, j, outcome]).toEqual([input, j, i === j ? 'the same' : 'id-taken'])
      }
    await engine.run(any, Buffer.from([7]), { id: '9' })
  })

  test('runOrGet returns the existing run, even with another input', async () => {
    const other = procedure({ name: 'other' }, async () => 1)
    await using engine = await testEngine({ procedures: [greet, other] })
    const first = await engine.runOrGet(greet, { name: 'Ada' }, { id: 'a' })
    const second = await engine.runOrGet(greet, { name: 'Bob' }, { id: 'a' })
    expect(await Promise.all([first.result(), second.result()])).toEqual(['Ada', 'Ada'])
    expect(await (await engine.runOrGet(greet, { name: 'Eve' }, { id: 'a' })).result()).toBe('Ada')
    expect(await refusalOf(engine.runOrGet(other, undefined, { id: 'a' }))).toMatchObject({
      code: 'id-taken',
      message: expect.stringMatching(/with another procedure\..*Use a different id\.$/),
    })
    expect(await refusalOf(engine.runOrGet(other, undefined, {} as { id: string }))).toMatchObject({
      code: 'option-invalid',
    })
  })

  test('ids are generated if none is given, and one seed gives the same ids', async () => {
    const ids = async (seed: number): Promise<readonly string[]> => {
      await using engine = await testEngine({ procedures: [greet], seed })
      return [(await engine.run(greet, { name: 'Ada' })).id, (await engine.run(greet, { name: 'Ada' })).id]
    }
    const [first, again, other] = [await ids(1), await ids(1), await ids(2)]
    expect(first).toEqual(again)
    expect(new Set([...first, ...other]).size).toBe(4)
  })

  test.each([
    ['', ''],
    ['a'.repeat(201), ''],
    ['a\u0000b', ''],
  ])('the id %j is refused', async (id) => {
    await using engine = await testEngine({ procedures: [greet] })
    expect(await refusalOf(engine.run(greet, { name: 'Ada' }, { id }))).toMatchObject({
      code: 'option-invalid',
    })
  })

  test('an id may contain slashes, quotes and other signs', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?'))
    await using engine = await testEngine({ procedures: [asking] })
    const id = 'order/7/0 ü%"\'\\'
    const run = await engine.run(asking, undefined, { id })
    const ask = await engine.inbox.next({ run: id })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await run.result()).toMatchObject({ approved: true })
    expect((await engine.get(id).status()).id).toBe(id)
  })

  test('an unknown id rejects with run-not-found', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const handle = engine.get('nobody')
    for (const asked of [handle.result(), handle.status(), engine.log('nobody')])
      expect(await refusalOf(asked)).toMatchObject({ code: 'run-not-found', details: { run: 'nobody' } })
  })
})

test('an id with a control character is refused, and no ask has it', async () => {
  await using engine = await testEngine({ procedures: [greet] })
  const id = 'a\0b'
  expect(() => engine.get(id)).toThrow('It must not contain control characters.')
  expect(await refusalOf(engine.log(id))).toMatchObject({ code: 'option-invalid' })
  expect(await engine.inbox.get(`${id}/1`)).toBeNull()
})
