import { createClient, procedure, ref } from '@pawl/core'
import { connectTo, type RunRow, type StorePort } from '@pawl/core/storage'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { greet, keepLines, refusalOf } from './support.ts'

describe('a run started by ref', () => {
  test('the worker validates the input and chooses the version', async () => {
    const store = memory()
    const client = createClient({ store })
    const second = procedure(
      { name: 'greet', version: 2, input: z.object({ name: z.string() }) },
      async (_, { name }) => `v2 ${name}`,
    )
    const run = await client.run(ref<typeof second>('greet'), { name: 'Ada' })
    expect(await run.status()).toMatchObject({ status: 'running', version: 0 })
    await using engine = await testEngine({ procedures: [greet, second], store })
    expect(await engine.get(second, run.id).result()).toBe('v2 Ada')
    expect(await run.status()).toMatchObject({ version: 2, status: 'completed' })
    await client.stop()
  })

  test('an invalid input fails the run with input-invalid before its first turn', async () => {
    const store = memory()
    const client = createClient({ store })
    const { id } = await client.run(ref<typeof greet>('greet'), { name: 5 } as never)
    await client.stop()
    await using engine = await testEngine({ procedures: [greet], store })
    const run = engine.get(id)
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'run-failed',
      details: { cause: { code: 'input-invalid' } },
    })
    expect((await engine.log(run.id)).execution_log).toEqual([])
  })

  test('an input that no live worker takes is refused, and starts nothing', async () => {
    const store = memory()
    await using engine = await testEngine({ procedures: [greet], store })
    const client = createClient({ store })
    const byName = ref<typeof greet>('greet')
    for (const starter of [engine, client]) {
      const refused = await refusalOf(starter.run(byName, { name: 5 } as never))
      expect(refused).toMatchObject({ code: 'input-invalid', details: { issues: [{ path: 'name' }] } })
      expect(await refusalOf(starter.runOrGet(byName, {} as never, { id: 'a' }))).toMatchObject({
        code: 'input-invalid',
      })
    }
    expect((await engine.list()).items).toEqual([])
    const run = await client.run(byName, { name: 'Ada' })
    expect(await engine.get(run.id).result()).toBe('Ada')
    await client.stop()
  })

  test('an input of a procedure that takes none is refused, and a missing one of a procedure that needs it', async () => {
    const bare = procedure({ name: 'bare' }, async () => 'done')
    const needy = procedure({ name: 'needy', input: z.string() }, async (_, text) => text)
    await using engine = await testEngine({ procedures: [bare, needy] })
    expect(await refusalOf(engine.run(ref<typeof needy>('needy'), undefined as never))).toMatchObject({
      code: 'input-invalid',
      details: { issues: [{ path: '', message: 'it is missing' }] },
    })
    expect(await refusalOf(engine.run(ref<typeof bare>('bare'), 5 as never))).toMatchObject({
      code: 'input-invalid',
      details: { issues: [{ path: '', message: "procedure 'bare' takes no input" }] },
    })
  })

  test('an input is judged by the version that a worker would choose, also after a deploy', async () => {
    const second = procedure(
      { name: 'greet', version: 2, input: z.object({ first: z.string() }) },
      async (_, { first }) => `v2 ${first}`,
    )
    const store = memory()
    const client = createClient({ store })
    const old = await testEngine({ procedures: [greet], store })
    const byName = ref<typeof second>('greet')
    expect(await refusalOf(client.run(byName, { first: 'Ada' }))).toMatchObject({ code: 'input-invalid' })
    await client.run(ref<typeof greet>('greet'), { name: 'Ada' }, { id: 'old' })
    await old.stop()
    await using engine = await testEngine({ procedures: [greet, second], store })
    await client.run(byName, { first: 'Ada' }, { id: 'new' })
    expect(await engine.get(second, 'new').result()).toBe('v2 Ada')
    expect(await engine.get(greet, 'old').result()).toBe('Ada')
    expect(await refusalOf(client.run(ref<typeof greet>('greet'), { name: 'Ada' }))).toMatchObject({
      code: 'input-invalid',
      details: { issues: [{ path: 'first' }] },
    })
    await client.stop()
  })

  test('a start that is repeated finds its run, whatever the workers take by now', async () => {
    const store = memory()
    const client = createClient({ store })
    const input = { first: 'Ada' } as never
    await client.run(ref<typeof greet>('greet'), input, { id: 'early' })
    await using engine = await testEngine({ procedures: [greet], store })
    const again = await client.run(ref<typeof greet>('greet'), input, { id: 'early' })
    expect(await refusalOf(again.result())).toMatchObject({ details: { cause: { code: 'input-invalid' } } })
    const anew = { id: 'early', ifEnded: 'again' } as const
    expect(await refusalOf(engine.runOrGet(ref<typeof greet>('greet'), input, anew))).toMatchObject({
      code: 'input-invalid',
    })
    await client.stop()
  })

  test('an input whose parsed value cannot be recorded fails the run with input-invalid', async () => {
    const input = z.string().transform((text) => new URL(text))
    const linked = procedure({ name: 'linked', input }, async (_, { href }) => href)
    const store = memory()
    const client = createClient({ store })
    const waiting = await client.run(ref<typeof linked>('linked'), 'https://example.com')
    await client.stop()
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [linked], store, logger })
    const begun = await engine.run(ref<typeof linked>('linked'), 'https://example.com')
    for (const { id } of [waiting, begun]) {
      // A run that is read again and again would never end.
      expect(await refusalOf(engine.get(id).result({ timeout: '1m' }))).toMatchObject({
        code: 'run-failed',
        details: { cause: { code: 'input-invalid', message: expect.stringContaining('cannot be recorded') } },
      })
      expect((await engine.log(id)).execution_log).toEqual([])
    }
    const failed = { level: 'error', message: expect.stringContaining('failed (input-invalid in') }
    expect(lines).toMatchObject([failed, failed])
  })

  test('the procedure gets the parsed input', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    await engine.crash('every')
    const run = await engine.run(ref<typeof greet>('greet'), { name: 'Ada', loud: true })
    expect(await run.result()).toBe('ADA')
  })

  test('the input is parsed once: a changed schema does not parse it again', async () => {
    let drawn = 0
    const drawing = (maximum: number) =>
      procedure(
        {
          name: 'drawing',
          input: z.object({ name: z.string().max(maximum), token: z.number().default(() => ++drawn) }),
        },
        async (ctx, { name, token }) => {
          const first = await ctx.step('first', () => token)
          await ctx.sleep('2h')
          return `${name} ${first} ${token}`
        },
      )
    const store = memory()
    const one = await testEngine({ procedures: [drawing(10)], store })
    const run = await one.run(ref<ReturnType<typeof drawing>>('drawing'), { name: 'Ada' })
    await one.advance('1m')
    await one.crash()
    await one.advance('1m')
    await one.stop()
    await using two = await testEngine({ procedures: [drawing(1)], store })
    // A worker that registers draws defaults as well, for the JSON Schema of the input.
    expect(await two.get(run.id).result()).toMatch(/^Ada (\d+) \1$/)
  })

  test('the parsed input is in the log before the first step begins', async () => {
    const { logger, lines } = keepLines()
    let drawn = 0
    const seen: number[] = []
    const input = z.object({ token: z.number().default(() => ++drawn) })
    const slow = procedure({ name: 'slow', input }, async (ctx, { token }) => {
      ctx.log.info('begins')
      return ctx.step('first', ({ attempt }) => {
        seen.push(token)
        return seen.length === 1 ? new Promise<number>(() => {}) : attempt
      })
    })
    const store = memory()
    await using engine = await testEngine({ procedures: [slow], store, logger })
    const run = await engine.run(ref<typeof slow>('slow'), {}, { id: 'slow' })
    while (seen.length === 0) await new Promise((resolve) => setImmediate(resolve))
    await engine.crash()
    expect(await run.result()).toBe(1)
    expect(seen).toEqual([seen[0], seen[0]])
    expect(lines.map(({ message }) => message)).toEqual(['begins'])
    const connection = connectTo(store) as StorePort
    await connection.open()
    const { run: key } = (await connection.runs.find('slow')) as RunRow
    const types = (await connection.log.load(key, 0, 10)).map(({ type }) => type)
    expect(types).toEqual(['started', 'accepted', 'settled', 'ended'])
    await connection.close()
  })

  test('a run started by ref and one started with the procedure are the same run if id and input are', async () => {
    const input = z.object({ name: z.string().trim(), at: z.date().default(() => new Date()) }).loose()
    const shouting = procedure({ name: 'shouting', input }, async (_, { name }) => name)
    const byName = ref<typeof shouting>('shouting')
    await using engine = await testEngine({ procedures: [shouting] })
    const given = { name: ' Ada ', note: undefined, loud: true }
    const turned = { loud: true, name: ' Ada ' }
    for (const [id, first, again] of [
      ['a', byName, shouting],
      ['b', shouting, byName],
      ['c', shouting, shouting],
    ] as const) {
      const run = await engine.run(first, given, { id })
      expect((await engine.run(again, turned, { id })).id).toBe(id)
      for (const other of [first, again])
        expect(await refusalOf(engine.run(other, { name: 'Bob' }, { id }))).toMatchObject({
          code: 'id-taken',
        })
      expect(await run.result()).toBe('Ada')
    }
  })

  test('an omitted input is the same input twice, even if its default is random', async () => {
    const input = z.object({ at: z.date() }).default(() => ({ at: new Date() }))
    const bare = procedure({ name: 'bare', input }, async () => 1)
    await using engine = await testEngine({ procedures: [bare] })
    await engine.run(bare, undefined, { id: 'a' })
    expect((await engine.run(bare, undefined, { id: 'a' })).id).toBe('a')
  })

  test('a cyclic input is refused', async () => {
    const input = z.any().transform((given: object) => ({ ...given }))
    const round = procedure({ name: 'round', input }, async () => 1)
    await using engine = await testEngine({ procedures: [round] })
    const odd: { self?: object } = {}
    odd.self = odd
    expect(await refusalOf(engine.run(round, odd, { id: 'a' }))).toMatchObject({ code: 'payload-refused' })
  })

  test('a later version whose input has more defaults finds the same run', async () => {
    const made = (version: number, input: z.ZodType<{ name: string }>) =>
      procedure({ name: 'growing', version, input }, async (_, { name }) => name)
    const one = made(1, z.object({ name: z.string() }))
    const two = made(2, z.object({ name: z.string(), loud: z.boolean().default(true) }))
    await using engine = await testEngine({ procedures: [one, two] })
    await engine.run(one, { name: 'Ada' }, { id: 'a' })
    expect((await engine.run(two, { name: 'Ada' }, { id: 'a' })).id).toBe('a')
    expect(await refusalOf(engine.run(two, { name: 'Bob' }, { id: 'a' }))).toMatchObject({ code: 'id-taken' })
  })

  test('the lines logged before the first wait are logged once', async () => {
    const store = memory()
    const talking = procedure({ name: 'talking' }, async (ctx) => {
      ctx.log.info('begins')
      await ctx.sleep('1h')
      ctx.log.info('ends')
    })
    const client = createClient({ store })
    const run = await client.run(talking)
    await client.stop()
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [talking], store, logger, replay: 'always' })
    await engine.get(run.id).result()
    expect(lines.map(({ message }) => message)).toEqual(['begins', 'ends'])
  })

  test('run refuses a name and any other value that is not a procedure or ref', async () => {
    const known = procedure({ name: 'known' }, async () => 1)
    await using engine = await testEngine({ procedures: [known] })
    for (const given of ['known', undefined, null, () => 1, {}])
      expect(await refusalOf(engine.run(given as never))).toMatchObject({
        code: 'option-invalid',
        message: expect.stringContaining('must be created by procedure() or ref(); a name is not enough'),
      })
  })

  test('an engine without the procedure refuses to run it', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    expect(await refusalOf(engine.run(ref<typeof greet>('nobody'), { name: 'Ada' }))).toMatchObject({
      code: 'procedure-unknown',
      details: { procedure: 'nobody' },
    })
  })

  test('an engine without the version refuses to run it and names the version', async () => {
    const [one, two] = [1, 2].map((version) => procedure({ name: 'greet', version }, async () => version))
    await using engine = await testEngine({ procedures: [two as NonNullable<typeof two>] })
    expect(await refusalOf(engine.run(one as NonNullable<typeof one>))).toMatchObject({
      code: 'procedure-unknown',
      message: expect.stringContaining("has procedure 'greet', but not version 1 of it"),
    })
    expect(await (await engine.run(ref<NonNullable<typeof two>>('greet'))).result()).toBe(2)
  })

  test('a run waits for a worker that has its code', async () => {
    const store = memory()
    const client = createClient({ store })
    const run = await client.run(greet, { name: 'Ada' })
    const other = procedure({ name: 'other' }, async () => 1)
    const stranger = await testEngine({ procedures: [other], store })
    await stranger.advance('1d')
    expect((await run.status()).status).toBe('running')
    await stranger.stop()
    await using engine = await testEngine({ procedures: [greet], store })
    expect(await engine.get(greet, run.id).result()).toBe('Ada')
    await client.stop()
  })
})
