import { type Ctx, createClient, createEngine, decider, procedure, ref } from '@pawl/core'
import { connectTo, type RunRow, type StorePort } from '@pawl/core/storage'
import { sqlite } from '@pawl/storage-sqlite'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { fail, hour, keepLines, refusalOf, start } from './support.ts'

const greet = procedure(
  { name: 'greet', input: z.object({ name: z.string(), loud: z.boolean().default(false) }) },
  async (ctx, { name, loud }) => {
    await ctx.sleep('1h')
    return loud ? name.toUpperCase() : name
  },
)
const silent = [{ ask: /./, answer: 'silence' as const }]

describe('ids', () => {
  test('one id is one run, if the input is the same', async () => {
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
  ])('are of procedures: %s is none', async (_, given) => {
    await using engine = await testEngine({ procedures: [greet] })
    const client = createClient({ store: memory() })
    for (const side of [engine, client]) {
      const refusal = await refusalOf(side.run(given as unknown as typeof greet, { name: 'Ada' }))
      expect(refusal).toMatchObject({ code: 'option-invalid', details: { option: 'procedure of run' } })
    }
    await client.stop()
  })

  test('a generated id begins with the time, and what follows cannot be guessed', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const draw = async () => (await engine.run(greet, { name: 'Ada' })).id
    const ids = [await draw(), await draw()]
    await engine.advance('2h')
    ids.push(await draw())
    expect(ids.map((id) => Number.parseInt(id.slice(0, 12), 16))).toEqual([start, start, start + 2 * hour])
    expect(ids.map((id) => id.slice(12))).toEqual(ids.map(() => expect.stringMatching(/^[0-9a-f]{16}$/)))
    expect(new Set(ids.map((id) => id.slice(12))).size).toBe(3)
  })

  test('one id with another input, or another procedure, is refused', async () => {
    const other = procedure({ name: 'other' }, async () => 1)
    await using engine = await testEngine({ procedures: [greet, other] })
    await engine.run(greet, { name: 'Ada' }, { id: 'a' })
    expect(await refusalOf(engine.run(greet, { name: 'Bob' }, { id: 'a' }))).toMatchObject({
      code: 'id-taken',
      details: { id: 'a' },
    })
    expect(await refusalOf(engine.run(other, undefined, { id: 'a' }))).toMatchObject({ code: 'id-taken' })
  })

  test('what looks alike and is not is another input', async () => {
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

  test('runOrGet gives the run that is there, whatever its input', async () => {
    const other = procedure({ name: 'other' }, async () => 1)
    await using engine = await testEngine({ procedures: [greet, other] })
    const first = await engine.runOrGet(greet, { name: 'Ada' }, { id: 'a' })
    const second = await engine.runOrGet(greet, { name: 'Bob' }, { id: 'a' })
    expect(await Promise.all([first.result(), second.result()])).toEqual(['Ada', 'Ada'])
    expect(await (await engine.runOrGet(greet, { name: 'Eve' }, { id: 'a' })).result()).toBe('Ada')
    expect(await refusalOf(engine.runOrGet(other, undefined, { id: 'a' }))).toMatchObject({
      code: 'id-taken',
      message: expect.stringMatching(/of another procedure\..*Choose another id\.$/),
    })
    expect(await refusalOf(engine.runOrGet(other, undefined, {} as { id: string }))).toMatchObject({
      code: 'option-invalid',
    })
  })

  test('are generated where none is given, and the same for the same seed', async () => {
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
  ])('%j is no id', async (id) => {
    await using engine = await testEngine({ procedures: [greet] })
    expect(await refusalOf(engine.run(greet, { name: 'Ada' }, { id }))).toMatchObject({
      code: 'option-invalid',
    })
  })

  test('with slashes and signs work everywhere', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('?'))
    await using engine = await testEngine({ procedures: [asking] })
    const id = 'order/7/0 ü%"\'\\'
    const run = await engine.run(asking, undefined, { id })
    const ask = await engine.inbox.next({ run: id })
    await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await run.result()).toMatchObject({ approved: true })
    expect((await engine.get(id).status()).id).toBe(id)
  })

  test('of nobody find nothing', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const handle = engine.get('nobody')
    for (const asked of [handle.result(), handle.status(), engine.log('nobody')])
      expect(await refusalOf(asked)).toMatchObject({ code: 'run-not-found', details: { run: 'nobody' } })
  })
})

describe('a run that ends', () => {
  test('without the steps of its last turn says so: somebody forgot to wait for them', async () => {
    const { logger, lines } = keepLines()
    const hasty = procedure({ name: 'hasty' }, async (ctx) => {
      await ctx.step('load', () => 1)
      for (const name of ['ana', 'bob']) void ctx.step(`mail ${name}`, () => 1)
      return 'all sent'
    })
    await using engine = await testEngine({ procedures: [hasty], logger })
    const run = await engine.run(hasty)
    expect(await run.result()).toBe('all sent')
    expect(engine.calls).toEqual({ load: 1 })
    expect(lines.map(({ message }) => message)).toEqual([
      `run "${run.id}" has ended without step "mail ana", step "mail bob": issued in its last turn, never begun. Is an await missing?`,
    ])
    expect((await run.status()).leftOver.operations.map(({ name }) => name)).toEqual(['mail ana', 'mail bob'])
  })

  test('says so of a step that was forgotten between two results of one commit', async () => {
    const { logger, lines } = keepLines()
    const hasty = procedure({ name: 'hasty' }, async (ctx) => {
      const both = [ctx.step('a', () => 1), ctx.step('b', () => 1)]
      await both[0]
      void ctx.step('mail', () => 1)
      await both[1]
    })
    await using engine = await testEngine({ procedures: [hasty], logger })
    await (await engine.run(hasty)).result()
    expect(engine.calls).toEqual({ a: 1, b: 1 })
    expect(lines).toMatchObject([{ message: expect.stringContaining('has ended without step "mail"') }])
  })

  test('leaves the loser of a race behind without a word, and what a failure cuts short', async () => {
    const { logger, lines } = keepLines()
    const failing = procedure({ name: 'failing' }, async (ctx) => {
      await Promise.all([ctx.step('never', () => 1), Promise.reject(new Error('no'))])
    })
    const racing = procedure({ name: 'racing' }, async (ctx) => {
      const slow = ctx.sleep('1h')
      await Promise.race([slow, ctx.step('quick', () => 1)])
      return Promise.race([ctx.sleep('1d'), Promise.resolve('quick')])
    })
    const hanging = procedure({ name: 'hanging' }, (ctx) =>
      Promise.race([ctx.step('slow', () => new Promise(() => {})), ctx.sleep('1h')]),
    )
    await using engine = await testEngine({
      procedures: [racing, failing, hanging],
      logger,
      replay: 'always',
    })
    expect(await (await engine.run(racing)).result()).toBe('quick')
    await (await engine.run(hanging)).result()
    expect(await refusalOf((await engine.run(failing)).result())).toMatchObject({ code: 'run-failed' })
    expect(lines).toMatchObject([{ message: expect.stringContaining('failed (run-failed in') }])
  })

  test('does nothing for whoever has kept its ctx, and says so', async () => {
    const { logger, lines } = keepLines()
    let kept: Ctx | undefined
    const leaky = procedure({ name: 'leaky' }, async (ctx) => {
      kept = ctx
    })
    await using engine = await testEngine({ procedures: [leaky], logger })
    const run = await engine.run(leaky)
    await run.result()
    void kept?.step('late', () => 1)
    expect(lines.map(({ message }) => message)).toEqual([
      `the ctx of run "${run.id}" was used after the run had ended: step "late" was issued, which does nothing`,
    ])
    expect(engine.calls).toEqual({})
  })
})

describe('an input', () => {
  test('that does not fit starts nothing', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    expect(await refusalOf(engine.run(greet, { name: 5 } as never))).toMatchObject({
      code: 'input-invalid',
      details: { issues: [{ path: 'name' }] },
    })
    expect((await engine.list()).items).toEqual([])
  })

  test('that cannot be stored starts nothing, and says where', async () => {
    const any = procedure({ name: 'any', input: z.any() }, async () => 1)
    await using engine = await testEngine({ procedures: [any] })
    expect(await refusalOf(engine.run(any, { list: [Symbol('s')] }))).toMatchObject({
      code: 'payload-refused',
      details: { path: 'input.list[0]' },
    })
    expect((await engine.list()).items).toEqual([])
  })

  test('to a procedure that takes none is refused', async () => {
    const none = procedure({ name: 'none' }, async (_, input) => input === undefined)
    await using engine = await testEngine({ procedures: [none] })
    expect(await refusalOf(engine.run(none, { id: 'a' } as never))).toMatchObject({
      code: 'input-invalid',
      message: expect.stringContaining('pass undefined in its place, and options such as id after it'),
    })
    expect(await (await engine.run(none)).result()).toBe(true)
  })

  test('reaches the procedure as the schema returns it, afresh on every replay', async () => {
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

describe('an output', () => {
  test('is given as the output schema returns it', async () => {
    const trimmed = procedure({ name: 'trimmed', output: z.string().trim() }, async () => '  text ')
    await using engine = await testEngine({ procedures: [trimmed] })
    expect(await (await engine.run(trimmed)).result()).toBe('text')
  })

  test('that does not fit fails the run', async () => {
    const wrong = procedure(
      { name: 'wrong', output: z.object({ n: z.number() }) },
      async () => ({ n: 'x' }) as never,
    )
    await using engine = await testEngine({ procedures: [wrong] })
    const run = await engine.run(wrong)
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'run-failed',
      details: { run: run.id, cause: { code: 'output-invalid' } },
    })
    expect(await run.status()).toMatchObject({
      status: 'failed',
      failure: { code: 'output-invalid' },
      endedAt: new Date(start),
    })
  })

  test('that cannot be stored fails the run, and says where', async () => {
    const wrong = procedure({ name: 'wrong' }, async () => ({ open: () => 1 }))
    await using engine = await testEngine({ procedures: [wrong] })
    expect(await refusalOf((await engine.run(wrong)).result())).toMatchObject({
      details: { cause: { code: 'payload-refused', message: expect.stringContaining('output.open') } },
    })
  })

  test('may be nothing', async () => {
    const nothing = procedure({ name: 'nothing' }, async () => {})
    await using engine = await testEngine({ procedures: [nothing] })
    expect(await (await engine.run(nothing)).result()).toBeUndefined()
  })
})

describe('a procedure that throws', () => {
  test('fails its run with name, message and code', async () => {
    class OrderError extends Error {
      override readonly name = 'OrderError'
    }
    const broken = procedure({ name: 'broken' }, async () => {
      throw Object.assign(new OrderError('oh no'), { code: 'E1' })
    })
    await using engine = await testEngine({ procedures: [broken] })
    const run = await engine.run(broken)
    const error = await refusalOf(run.result())
    expect(error).toMatchObject({
      code: 'run-failed',
      details: { run: run.id, cause: { name: 'OrderError', message: 'oh no', code: 'E1' } },
    })
    expect((error as { cause?: unknown }).cause).toMatchObject({
      name: 'OrderError',
      message: 'oh no',
      code: 'E1',
    })
    expect((await run.status()).failure).toEqual({
      ...{ name: 'OrderError', message: 'oh no', code: 'E1' },
      stack: expect.stringContaining('lifecycle.test.ts'),
    })
  })

  test('from a callback nobody catches fails its run, and the process lives', async () => {
    const leaking = procedure({ name: 'leaking' }, async (ctx) => {
      await ctx.step('work', () => 1)
      process.nextTick(() => fail('leaked'))
      await ctx.sleep('1h')
      return 'unreached'
    })
    await using engine = await testEngine({ procedures: [leaking] })
    expect(await refusalOf((await engine.run(leaking)).result())).toMatchObject({
      details: { cause: { message: 'leaked' } },
    })
  })

  test('at once, before it asks for anything, fails its run', async () => {
    const sync = procedure({ name: 'sync' }, () => fail('at once'))
    await using engine = await testEngine({ procedures: [sync] })
    expect(await refusalOf((await engine.run(sync)).result())).toMatchObject({
      details: { cause: { message: 'at once' } },
    })
  })

  test('and leaves a rejection unhandled ends as it ends, and says so', async () => {
    const { logger, lines } = keepLines()
    const careless = procedure({ name: 'careless' }, async (ctx) => {
      const lost = ctx.step('lost', () => fail('lost'), { retry: false })
      await ctx.sleep('1h')
      void lost
      return 'done'
    })
    await using engine = await testEngine({ procedures: [careless], logger })
    expect(await (await engine.run(careless)).result()).toBe('done')
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'warn', message: expect.stringContaining('an unhandled rejection') }),
    )
  })
})

describe('what an ended run leaves behind', () => {
  test('is listed: operations nobody awaited', async () => {
    const hasty = procedure({ name: 'hasty' }, async (ctx) => {
      void ctx.sleep('1d')
      void ctx.step('never', () => 1)
      return 'done'
    })
    await using engine = await testEngine({ procedures: [hasty] })
    const run = await engine.run(hasty)
    expect(await run.result()).toBe('done')
    expect((await run.status()).leftOver.operations).toEqual([
      { position: 0, name: 'sleep' },
      { position: 1, name: 'never' },
    ])
    expect(engine.calls).toEqual({})
  })
})

describe('status', () => {
  const stages = procedure({ name: 'stages', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    await Promise.all([ctx.sleep('1h'), ctx.human.approve('Now?', { timeout: '2h' })])
  })

  test('says where a run stands, and what it waits for', async () => {
    await using engine = await testEngine({ procedures: [stages], humans: silent })
    const run = await engine.run(stages, undefined, { id: 's', by: 'user:ana', tags: ['a', 'b', 'a'] })
    await engine.advance('1m')
    expect(await run.status()).toEqual({
      id: 's',
      procedure: 'stages',
      version: 1,
      status: 'waiting',
      startedAt: new Date(start),
      endedAt: undefined,
      waitingFor: [{ kind: 'signal', name: 'go', position: 0, ask: undefined, until: undefined }],
      failure: undefined,
      tags: ['a', 'b'],
      startedBy: 'user:ana',
      leftOver: { signals: [], operations: [] },
    })
    await run.signal('go')
    await engine.advance('1m')
    expect((await run.status()).waitingFor).toEqual([
      { kind: 'timer', name: 'sleep', position: 1, ask: undefined, until: new Date(start + 61 * 60_000) },
      { kind: 'ask', name: 'approve', position: 2, ask: 's/2', until: new Date(start + 121 * 60_000) },
    ])
    await run.result()
    expect(await run.status()).toMatchObject({
      status: 'completed',
      endedAt: new Date(start + 121 * 60_000),
      waitingFor: [],
    })
  })

  test('is running while a step is at work', async () => {
    let end = (): void => {}
    const working = procedure({ name: 'working' }, (ctx) =>
      ctx.step('work', () => new Promise<void>((resolve) => (end = resolve))),
    )
    await using engine = await testEngine({ procedures: [working] })
    const run = await engine.run(working)
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
    while (engine.calls['work'] === undefined) await new Promise((resolve) => setImmediate(resolve))
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
    end()
    await run.result()
  })
})

describe('a run of a client that only knows its name', () => {
  test('is checked by the worker, and gets its version there', async () => {
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

  test('with an invalid input ends as input-invalid, before its first turn', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const run = await engine.run(ref<typeof greet>('greet'), { name: 5 } as never)
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'run-failed',
      details: { cause: { code: 'input-invalid' } },
    })
    expect((await engine.log(run.id)).execution_log).toEqual([])
  })

  test('with an input of which its schema makes what cannot be kept ends as input-invalid', async () => {
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

  test('gets the input as the schema returns it', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    await engine.crash('every')
    const run = await engine.run(ref<typeof greet>('greet'), { name: 'Ada', loud: true })
    expect(await run.result()).toBe('ADA')
  })

  test('goes on with what the schema made of the input when it began, whatever it would make now', async () => {
    let drawn = 0
    const drawing = (most: number) =>
      procedure(
        {
          name: 'drawing',
          input: z.object({ name: z.string().max(most), token: z.number().default(() => ++drawn) }),
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
    expect(await two.get(run.id).result()).toBe('Ada 1 1')
  })

  test('has its input in the log before anything is done with it', async () => {
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
    expect(seen).toEqual([1, 1])
    expect(lines.map(({ message }) => message)).toEqual(['begins'])
    const connection = connectTo(store) as StorePort
    await connection.open()
    const { run: key } = (await connection.find('slow')) as RunRow
    const types = (await connection.load(key, 0, 10)).map(({ type }) => type)
    expect(types).toEqual(['started', 'accepted', 'settled', 'ended'])
    await connection.close()
  })

  test('is the same run as one that is started with the procedure, and the same input', async () => {
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

  test('is the same run where all of its input is left out', async () => {
    const input = z.object({ at: z.date() }).default(() => ({ at: new Date() }))
    const bare = procedure({ name: 'bare', input }, async () => 1)
    await using engine = await testEngine({ procedures: [bare] })
    await engine.run(bare, undefined, { id: 'a' })
    expect((await engine.run(bare, undefined, { id: 'a' })).id).toBe('a')
  })

  test('is refused with an input that leads back to itself', async () => {
    const input = z.any().transform((given: object) => ({ ...given }))
    const round = procedure({ name: 'round', input }, async () => 1)
    await using engine = await testEngine({ procedures: [round] })
    const odd: { self?: object } = {}
    odd.self = odd
    expect(await refusalOf(engine.run(round, odd, { id: 'a' }))).toMatchObject({ code: 'payload-refused' })
  })

  test('is the same run for a later version whose input has more defaults', async () => {
    const made = (version: number, input: z.ZodType<{ name: string }>) =>
      procedure({ name: 'growing', version, input }, async (_, { name }) => name)
    const one = made(1, z.object({ name: z.string() }))
    const two = made(2, z.object({ name: z.string(), loud: z.boolean().default(true) }))
    await using engine = await testEngine({ procedures: [one, two] })
    await engine.run(one, { name: 'Ada' }, { id: 'a' })
    expect((await engine.run(two, { name: 'Ada' }, { id: 'a' })).id).toBe('a')
    expect(await refusalOf(engine.run(two, { name: 'Bob' }, { id: 'a' }))).toMatchObject({ code: 'id-taken' })
  })

  test('logs what it does before its first wait, as any other', async () => {
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

  test('is not started by the name of its procedure, nor by anything else that is none', async () => {
    const known = procedure({ name: 'known' }, async () => 1)
    await using engine = await testEngine({ procedures: [known] })
    for (const given of ['known', undefined, null, () => 1, {}])
      expect(await refusalOf(engine.run(given as never))).toMatchObject({
        code: 'option-invalid',
        message: expect.stringContaining('must be what procedure() or ref() made, not its name'),
      })
  })

  test('that no worker here knows is refused where the worker is', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    expect(await refusalOf(engine.run(ref<typeof greet>('nobody'), { name: 'Ada' }))).toMatchObject({
      code: 'procedure-unknown',
      details: { procedure: 'nobody' },
    })
  })

  test('of a version that the engine has not is refused, and says which it is', async () => {
    const [one, two] = [1, 2].map((version) => procedure({ name: 'greet', version }, async () => version))
    await using engine = await testEngine({ procedures: [two as NonNullable<typeof two>] })
    expect(await refusalOf(engine.run(one as NonNullable<typeof one>))).toMatchObject({
      code: 'procedure-unknown',
      message: expect.stringContaining("has procedure 'greet', but not version 1 of it"),
    })
    expect(await (await engine.run(ref<NonNullable<typeof two>>('greet'))).result()).toBe(2)
  })

  test('waits for a worker that has its code', async () => {
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

describe('versions', () => {
  const body = (version: number) => async (ctx: Ctx) => {
    await ctx.sleep('1h')
    return version
  }
  const first = procedure({ name: 'p', version: 1 }, body(1))
  const second = procedure({ name: 'p', version: 2 }, body(2))

  test('a run stays on the version it began with', async () => {
    const store = memory()
    const before = await testEngine({ procedures: [first], store })
    const old = await before.run(first)
    await before.advance('1m')
    await before.stop()
    await using after = await testEngine({ procedures: [first, second], store })
    const young = await after.run(second)
    expect(await after.get(first, old.id).result()).toBe(1)
    expect(await young.result()).toBe(2)
  })

  test('a run whose version nobody has waits', async () => {
    const store = memory()
    const before = await testEngine({ procedures: [first], store })
    const old = await before.run(first)
    await before.advance('1m')
    await before.stop()
    const after = await testEngine({ procedures: [second], store })
    await after.advance('1d')
    expect((await after.get(old.id).status()).status).toBe('running')
    await after.stop()
    await using again = await testEngine({ procedures: [first], store })
    expect(await again.get(first, old.id).result()).toBe(1)
  })

  test('a procedure given twice is refused', async () => {
    expect(await refusalOf(testEngine({ procedures: [first, first] }))).toMatchObject({
      code: 'procedure-duplicate',
      details: { procedure: 'p' },
    })
  })
})

describe('changed code', () => {
  const before = procedure({ name: 'p' }, async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('two', () => 2)
    await ctx.sleep('1h')
    return 'done'
  })
  const after = procedure({ name: 'p' }, async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('zwei', () => 2)
    await ctx.sleep('1h')
    return 'done'
  })

  /** A run of `before` that sleeps, and whose engine has gone. */
  const leaveSleeping = async () => {
    const store = memory()
    const one = await testEngine({ procedures: [before], store })
    const run = await one.run(before)
    await one.advance('10m')
    await one.stop()
    return { store, run }
  }

  test('is found before it writes, the run is put aside, and goes on when the code is put back', async () => {
    const store = memory()
    const { logger, lines } = keepLines()
    const one = await testEngine({ procedures: [before], store })
    const run = await one.run(before)
    await one.advance('10m')
    const log = await one.log(run.id)
    await one.stop()

    const two = await testEngine({ procedures: [after], store, logger })
    const error = await refusalOf(two.get(after, run.id).result())
    expect(error).toMatchObject({
      code: 'nondeterminism',
      details: {
        position: 1,
        recorded: expect.stringContaining('two'),
        asked: expect.stringContaining('zwei'),
      },
    })
    expect((error.details as { readonly at: string }).at).toContain('lifecycle.test.ts')
    expect(await two.get(run.id).status()).toMatchObject({ status: 'stuck' })
    expect((await two.list({ status: 'stuck' })).items).toHaveLength(1)
    expect(await two.log(run.id)).toEqual(log)
    expect(two.calls).toEqual({})
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('stuck') }),
    )
    await two.stop()

    await using three = await testEngine({ procedures: [before], store })
    expect(await three.get(before, run.id).result()).toBe('done')
    expect(three.calls).toEqual({})
  })

  test('that a run got stuck in is forgotten when its worker has gone, and the right one tries again', async () => {
    const asking = (name: string) =>
      procedure({ name: 'p', signals: { go: z.string() } }, async (ctx) => {
        await ctx.step(name, () => 1)
        return ctx.receive('go')
      })
    const store = memory()
    await using right = await testEngine({ procedures: [asking('a')], store })
    const run = await right.run(asking('a'))
    await right.advance('1m')
    const wrong = await testEngine({ procedures: [asking('b')], store, logger: keepLines().logger })
    await wrong.get(asking('b'), run.id).signal('go', 'on')
    expect(await refusalOf(right.get(run.id).result())).toMatchObject({ code: 'nondeterminism' })
    await wrong.stop()
    expect((await run.status()).status).toBe('stuck')
    await right.advance('10m')
    expect(await run.result()).toBe('on')
  })

  test('that throws where the log goes on says what it threw, and where', async () => {
    const broken = procedure({ name: 'p' }, async () => {
      throw Object.assign(new Error('no order'), { code: 'no-order' })
    })
    const { store, run } = await leaveSleeping()
    await using two = await testEngine({ procedures: [broken], store, logger: keepLines().logger })
    expect(await refusalOf(two.get(run.id).result())).toMatchObject({
      code: 'nondeterminism',
      details: {
        recorded: expect.stringContaining('step "one"'),
        asked: 'its failure with Error: no order',
        at: expect.stringContaining('lifecycle.test.ts'),
      },
      cause: { code: 'no-order' },
    })
  })

  test('that throws what nobody can look at puts the run aside like any other', async () => {
    const broken = procedure({ name: 'p' }, async () => {
      throw Object.defineProperty(new Error('x'), 'stack', {
        get() {
          throw new Error('unreadable')
        },
      })
    })
    const { store, run } = await leaveSleeping()
    await using two = await testEngine({ procedures: [broken], store, logger: keepLines().logger })
    expect(await refusalOf(two.get(run.id).result())).toMatchObject({
      code: 'nondeterminism',
      details: { at: '' },
    })
  })

  test('leaves a stuck run its messages and answers', async () => {
    const asking = (name: string) =>
      procedure({ name: 'p', signals: { go: z.string() } }, async (ctx) => {
        await ctx.step(name, () => 1)
        const [approval, go] = await Promise.all([ctx.human.approve('Now?'), ctx.receive('go')])
        return [approval.approved, go]
      })
    const store = memory()
    const one = await testEngine({ procedures: [asking('a')], store, humans: silent })
    const run = await one.run(asking('a'))
    await one.advance('10m')
    await one.stop()
    const two = await testEngine({ procedures: [asking('b')], store, humans: silent })
    await refusalOf(two.get(run.id).result())
    await two.inbox.answer(`${run.id}/1`, { approved: true }, { as: 'user:ana' })
    await two.get(asking('b'), run.id).signal('go', 'on')
    await two.advance('1h')
    expect((await two.get(run.id).status()).status).toBe('stuck')
    await two.stop()
    await using three = await testEngine({ procedures: [asking('a')], store })
    expect(await three.get(run.id).result()).toEqual([true, 'on'])
  })

  test('of an asked question changes nothing of it: it stays as it was asked', async () => {
    const asking = (message: string, amount: number, choices: readonly string[]) =>
      procedure({ name: 'p' }, async (ctx) => {
        const approval = await ctx.human.approve(message, {
          params: { amount },
          editable: ['amount'],
          timeout: '1h',
        } as never)
        return [approval, await ctx.human.select('Which?', choices)]
      })
    const store = memory()
    const one = await testEngine({ procedures: [asking('Pay {amount}?', 5, ['a'])], store, humans: silent })
    const run = await one.run(asking('Pay {amount}?', 5, ['a']))
    await one.advance('10m')
    const ask = await one.inbox.next()
    await one.stop()
    await using two = await testEngine({
      procedures: [asking('Really pay {amount}?', 9, ['b'])],
      store,
      humans: [
        ...silent.slice(1),
        { ask: 'Which', answer: { choice: 'b' } },
        { ask: 'Pay', answer: 'silence' },
      ],
    })
    await two.advance('10m')
    expect(await two.inbox.next()).toEqual(ask)
    await two.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await two.get(run.id).result()).toMatchObject([{ approved: true, params: { amount: 5 } }, 'b'])
  })

  test('that only adds an await or another log line is no change', async () => {
    const edited = procedure({ name: 'p' }, async (ctx) => {
      ctx.log.info('new line')
      await null
      await ctx.step('one', () => 1)
      await Promise.resolve()
      await ctx.step('two', () => 2)
      await ctx.sleep('1h')
      return 'edited'
    })
    const { store, run } = await leaveSleeping()
    await using two = await testEngine({ procedures: [edited], store })
    expect(await two.get(run.id).result()).toBe('edited')
  })
})

describe('a procedure that awaits something else', () => {
  test('is put aside as foreign-await, naming what came before', async () => {
    const foreign = procedure({ name: 'foreign' }, async (ctx) => {
      await ctx.step('load', () => 1)
      await new Promise((resolve) => setTimeout(resolve, 5))
      return 'unreached'
    })
    await using engine = await testEngine({ procedures: [foreign] })
    const run = await engine.run(foreign)
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'foreign-await',
      details: { run: run.id, after: 'load', what: expect.stringContaining('it used setTimeout()') },
    })
    expect(await run.status()).toMatchObject({
      status: 'stuck',
      failure: { code: 'foreign-await', message: expect.stringContaining('it used setTimeout()') },
    })
  })

  test('beside an operation is told of when it moves, and nothing comes of that', async () => {
    let move = (_: string): void => {}
    const moved = new Promise<string>((resolve) => {
      move = resolve
    })
    const foreign = procedure({ name: 'foreign' }, async (ctx) => {
      const winner = await Promise.race([ctx.sleep('1h').then(() => 'the sleep'), moved])
      return ctx.step('after', () => winner)
    })
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [foreign], logger })
    const run = await engine.run(foreign)
    await engine.advance('1s')
    move('the wait')
    await vi.waitUntil(() => lines.length > 0)
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(
          /moved while it waits, after sleep: step "after" was issued outside any turn/,
        ),
      },
    ])
    // Nothing was written of what it did outside its turns.
    expect((await engine.log(run.id)).execution_log).toMatchObject([{ name: 'sleep', status: 'open' }])
    expect(engine.calls).toEqual({})
  })
})

test('what is no store is refused, with what makes one', async () => {
  const message = /store of create(Engine|Client).*It must be made by sqlite\(\), postgres\(\) or memory\(\)/
  for (const store of [undefined, null, 'pawl.db', { kind: 'sqlite' }]) {
    await expect(createEngine({ store, procedures: [] } as never)).rejects.toThrow(message)
    expect(() => createClient({ store } as never)).toThrow(message)
  }
  expect(() => sqlite(undefined as never)).toThrow("the path of a file, such as 'pawl.db'")
  expect(() => sqlite(5 as never)).toThrow('of the type number')
  expect(() => sqlite('~/pawl.db')).toThrow('"~/pawl.db"')
})

test('an id that no store could look for is refused, or known to be none', async () => {
  await using engine = await testEngine({ procedures: [greet] })
  const id = 'a\0b'
  expect(() => engine.get(id)).toThrow('It must have no control characters.')
  expect(await refusalOf(engine.log(id))).toMatchObject({ code: 'option-invalid' })
  expect(await engine.inbox.get(`${id}/1`)).toBeNull()
})

describe('waiting', () => {
  test('for a result ends with wait-timed-out, and the run goes on', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const run = await engine.run(greet, { name: 'Ada' })
    expect(await refusalOf(run.result({ timeout: '10m' }))).toMatchObject({
      code: 'wait-timed-out',
      details: { after: '10m' },
    })
    expect(await run.result({ timeout: '1h' })).toBe('Ada')
  })

  test('for an ask ends with wait-timed-out, or with the ask', async () => {
    const late = procedure({ name: 'late' }, async (ctx) => {
      await ctx.sleep('1h')
      await ctx.human.approve('Now?', { to: 'group:ops' })
    })
    await using engine = await testEngine({ procedures: [late] })
    const run = await engine.run(late)
    expect(await refusalOf(engine.inbox.next({ timeout: '10m' }))).toMatchObject({ code: 'wait-timed-out' })
    expect(await engine.inbox.next({ run: run.id, to: 'group:ops' })).toMatchObject({
      message: 'Now?',
      askedAt: new Date(start + hour),
    })
    expect(await refusalOf(engine.inbox.next({ to: 'group:sales', timeout: '0s' }))).toMatchObject({
      code: 'wait-timed-out',
    })
  })

  test('for an ask of a run that is yet to be started ends with its ask', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?'))
    await using engine = await testEngine({ procedures: [asking] })
    const next = engine.inbox.next({ run: 'later' })
    await engine.run(asking, undefined, { id: 'later' })
    expect(await next).toMatchObject({ run: 'later', message: 'Now?' })
  })

  test('ends with engine-stopped when the engine stops', async () => {
    const engine = await testEngine({ procedures: [greet] })
    const run = await engine.run(greet, { name: 'Ada' })
    await engine.stop()
    for (const asked of [
      run.result(),
      run.status(),
      engine.list(),
      engine.inbox.next(),
      engine.inbox.get('no ask'),
      engine.run(greet, { name: 'Bob' }),
      engine.log(run.id),
    ])
      expect(await refusalOf(asked)).toMatchObject({ code: 'engine-stopped' })
    await engine.stop()
  })
})
