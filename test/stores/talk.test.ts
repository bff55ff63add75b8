import {
  type Client,
  createClient,
  createEngine,
  type Engine,
  type Logger,
  PawlError,
  type Procedure,
  procedure,
  type RunHandle,
  type Store,
} from '@pawl/core'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

const document = procedure(
  {
    name: 'document',
    output: z.string(),
    signals: { close: z.void() },
    state: { title: z.string(), renamed: z.number() },
    updates: { rename: { input: z.string().min(1), output: z.string() } },
  },
  async (ctx) => {
    let title = 'Untitled'
    let renamed = 0
    ctx.expose('title', title)
    ctx.on('rename', (name) => {
      if (name === title) throw Object.assign(new Error('it has that title'), { code: 'same' })
      const old = title
      title = name
      ctx.expose('title', title)
      ctx.expose('renamed', ++renamed)
      return old
    })
    await ctx.receive('close')
    return title
  },
)

describe('talk with a run', () => {
  const makePlace = makePlaces()
  async function start(...procedures: readonly AnyProcedure[]): Promise<{
    readonly store: Store
    readonly engine: Engine
    /** Of another process, as far as the engine knows. */
    readonly client: Client
    readonly restart: () => Promise<Engine>
  }> {
    const { store, remove } = await makePlace()
    const open = (): Promise<Engine> => createEngine({ store, procedures, logger: silent })
    let engine = await open()
    const client = createClient({ store })
    onTestFinished(async () => {
      await client.stop()
      await engine.stop()
      await remove()
    })
    const restart = async (): Promise<Engine> => {
      await engine.stop()
      engine = await open()
      return engine
    }
    return { store, engine, client, restart }
  }

  test('an exposed value is read from another process, and is undefined before', async () => {
    const { engine, client } = await start(document)
    const run = await engine.run(document, undefined, { id: 'd' })
    const other = client.get(document, 'd')
    expect(await other.state('title', { wait: '60s' })).toBe('Untitled')
    expect(await other.state('renamed')).toBeUndefined()
    await run.signal('close')
    expect(await run.result()).toBe('Untitled')
    expect(await other.state('title')).toBe('Untitled')
    await expect(other.state('renamed', { wait: '60s' })).rejects.toMatchObject({ code: 'run-ended' })
    await expect(client.get(document, 'none').state('title')).rejects.toMatchObject({ code: 'run-not-found' })
  })

  test('a value that is exposed while a step is at work is stored before the step ends', async () => {
    const working = procedure({ name: 'working', state: { phase: z.string() } }, async (ctx) => {
      ctx.expose('phase', 'copying')
      await ctx.step('copy', () => isSeen)
      ctx.expose('phase', 'done')
    })
    let see = (): void => {}
    const isSeen = new Promise<void>((resolve) => {
      see = resolve
    })
    const { engine, client } = await start(working)
    const run = await engine.run(working, undefined, { id: 'w' })
    expect(await client.get(working, 'w').state('phase', { wait: '60s' })).toBe('copying')
    see()
    await run.result()
    expect(await client.get(working, 'w').state('phase')).toBe('done')
  })

  test('an update is handled, and its reply and its effects are seen from another process', async () => {
    const { engine, client } = await start(document)
    const run = await engine.run(document, undefined, { id: 'd' })
    const other = client.get(document, 'd')
    expect(await other.update('rename', 'Blue')).toBe('Untitled')
    expect(await other.update('rename', 'Green')).toBe('Blue')
    await run.signal('close')
    expect(await run.result()).toBe('Green')
    expect(await other.state('renamed')).toBe(2)
    const { execution_log } = await client.log('d')
    expect(execution_log.map(({ type, name, result }) => [type, name, result])).toEqual([
      ['update', 'rename', { input: 'Blue' }],
      ['signal', 'close', expect.anything()],
      ['reply', 'rename', 'Untitled'],
      ['update', 'rename', { input: 'Green' }],
      ['reply', 'rename', 'Blue'],
    ])
    expect((await run.status()).leftOver).toEqual({ signals: [], operations: [] })
  })

  test('the same id of an update is handled once and gets the same reply, also after the end', async () => {
    const { engine, client } = await start(document)
    const run = await engine.run(document, undefined, { id: 'd' })
    const other = client.get(document, 'd')
    const replies = await Promise.all([
      other.update('rename', 'Blue', { id: 'one' }),
      run.update('rename', 'Blue', { id: 'one' }),
      client.get('d').update('rename', 'Red', { id: 'one' }),
    ])
    expect(replies).toEqual(['Untitled', 'Untitled', 'Untitled'])
    await run.signal('close')
    await run.result()
    expect(await other.state('renamed')).toBe(1)
    expect(await other.update('rename', 'Blue', { id: 'one' })).toBe('Untitled')
    await expect(other.update('rename', 'Blue', { id: 'two' })).rejects.toMatchObject({ code: 'run-ended' })
  })

  test('an error of a handler refuses its update, with the same answer for the same id', async () => {
    const { engine, client } = await start(document)
    await engine.run(document, undefined, { id: 'd' })
    const other = client.get(document, 'd')
    for (let time = 0; time < 2; time++) {
      const refused = await other.update('rename', 'Untitled', { id: 'one' }).catch((error: unknown) => error)
      if (!PawlError.is(refused, 'update-refused')) throw refused
      expect(refused.details).toEqual({
        run: 'd',
        update: 'rename',
        cause: { name: 'Error', message: 'it has that title', code: 'same' },
      })
    }
    expect(await other.update('rename', 'Blue')).toBe('Untitled')
  })

  test('an invalid input is refused by the sender that has the procedure, and by the worker otherwise', async () => {
    const { engine, client } = await start(document)
    await engine.run(document, undefined, { id: 'd' })
    await expect(client.get(document, 'd').update('rename', '')).rejects.toMatchObject({
      code: 'payload-invalid',
    })
    const untyped = client.get('d')
    await expect(untyped.update('rename', 7)).rejects.toMatchObject({
      code: 'payload-invalid',
      details: { issues: [{ path: '' }] },
    })
    await expect(untyped.update('renmae', 'Blue')).rejects.toMatchObject({
      code: 'update-refused',
      details: { cause: { code: 'option-invalid', message: expect.stringContaining('declares rename') } },
    })
    await expect(
      client.get(document, 'd').update('renmae' as unknown as 'rename', 'Blue'),
    ).rejects.toMatchObject({ code: 'option-invalid' })
    await expect(client.get('none').update('rename', 'Blue')).rejects.toMatchObject({ code: 'run-not-found' })
  })

  test('a reply that does not match its schema refuses the update', async () => {
    const wrong = procedure(
      {
        name: 'wrong',
        signals: { close: z.void() },
        updates: { ask: { input: z.void(), output: z.number() } },
      },
      async (ctx) => {
        ctx.on('ask', () => 'seven' as unknown as number)
        await ctx.receive('close')
      },
    )
    const { engine } = await start(wrong)
    const run = await engine.run(wrong, undefined, { id: 'w' })
    await expect(run.update('ask', undefined)).rejects.toMatchObject({
      code: 'update-refused',
      details: { cause: { code: 'output-invalid' } },
    })
  })

  test('updates are handled one at a time, in the order in which they were sent, also with operations', async () => {
    const adding = procedure(
      {
        name: 'adding',
        output: z.array(z.string()),
        signals: { close: z.void() },
        updates: { add: { input: z.number(), output: z.number() } },
      },
      async (ctx) => {
        const seen: string[] = []
        let sum = 0
        ctx.on('add', async (n) => {
          seen.push(`begin ${n}`)
          sum += await ctx.step('look up', () => n)
          seen.push(`end ${n}`)
          return sum
        })
        await ctx.receive('close')
        return seen
      },
    )
    const { engine } = await start(adding)
    const run = await engine.run(adding, undefined, { id: 'a' })
    expect(await Promise.all([1, 2, 3].map((n) => run.update('add', n)))).toEqual([1, 3, 6])
    await run.signal('close')
    expect(await run.result()).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3'])
  })

  test('updates that nothing handles before the end of the run are answered with run-ended', async () => {
    const deaf = procedure(
      {
        name: 'deaf',
        signals: { close: z.void() },
        updates: { ask: { input: z.number(), output: z.number() } },
      },
      async (ctx) => {
        await ctx.receive('close')
        if (ctx.runId === 'failing') throw new Error('it fails')
      },
    )
    const { engine, client } = await start(deaf)
    for (const id of ['completing', 'failing', 'cancelled']) {
      const run = await engine.run(deaf, undefined, { id })
      const asked = [1, 2].map((n) =>
        client
          .get(deaf, id)
          .update('ask', n, { id: `ask ${n}` })
          .catch(String),
      )
      // The updates are in the store before the signal is.
      await Promise.all(
        [1, 2].map((n) => run.update('ask', n, { id: `ask ${n}`, timeout: '1ms' }).catch(() => {})),
      )
      if (id === 'cancelled') await run.cancel()
      else await run.signal('close')
      for (const answer of await Promise.all(asked)) expect(answer).toContain(`Run ${id} has already ended`)
    }
  })

  test('an update that no handler has begun goes on to the next generation, and one that has begun is unfinished', async () => {
    const acted: string[] = []
    const account = procedure(
      {
        name: 'account',
        input: z.number(),
        signals: { tick: z.void(), act: z.void() },
        updates: { charge: { input: z.number(), output: z.string() } },
      },
      async (ctx, generation): Promise<void> => {
        ctx.on('charge', async (cents) => {
          await ctx.step(`charge ${cents}`, () => acted.push(`${cents} in ${generation}`))
          if (cents === 1) await ctx.receive('act')
          return `charged ${cents} in ${generation}`
        })
        if (generation === 3) return
        await ctx.receive('tick')
        return ctx.continueAs(generation + 1)
      },
    )
    const { engine, client, restart } = await start(account)
    const run = await engine.run(account, 1, { id: 'a' })
    const far = client.get(account, 'a')
    const begun = far.update('charge', 1, { id: 'begun' }).catch((error: unknown) => error)
    await vi.waitUntil(() => acted.length === 1, { timeout: 60_000 })
    await engine.stop()
    // One unit of the next engine records the signal and the update, so that the run has continued before it sees the update.
    await far.signal('tick')
    const unseen = ['unseen', 'later'].map((id, i) => far.update('charge', i + 2, { id }))
    await Promise.all(
      ['unseen', 'later'].map((id, i) => far.update('charge', i + 2, { id, timeout: '1ms' }).catch(() => {})),
    )
    const second = await restart()
    expect(await Promise.all(unseen)).toEqual(['charged 2 in 2', 'charged 3 in 2'])
    expect(await begun).toMatchObject({ code: 'update-unfinished', details: { status: 'continued' } })
    expect(await far.update('charge', 1, { id: 'begun' }).catch((error: unknown) => error)).toMatchObject({
      code: 'update-unfinished',
    })
    await second.get(account, 'a').signal('tick')
    await second.get(account, 'a').result()
    expect(run.id).toBe('a')
    expect(acted).toEqual(['1 in 1', '2 in 2', '3 in 2'])
  })

  test('an update whose sender has timed out has its outcome by its id, behind continueAs too: unfinished if begun, else handled', async () => {
    const warnings: string[] = []
    const acted: string[] = []
    const { store, remove } = await makePlace()
    const charge = { input: z.number(), output: z.string() }
    const account = procedure(
      {
        name: 'account',
        input: z.number(),
        signals: { tick: z.void(), act: z.void() },
        updates: { charge, refund: charge },
      },
      async (ctx, generation): Promise<void> => {
        ctx.on('charge', async (cents) => {
          await ctx.step(`charge ${cents}`, () => acted.push(`${cents} in ${generation}`))
          if (generation === 1) await ctx.receive('act')
          return `charged ${cents} in ${generation}`
        })
        ctx.on('refund', (cents) => `refunded ${cents} in ${generation}`)
        await ctx.receive('tick')
        if (generation === 1) return ctx.continueAs(2)
      },
    )
    const logger = { ...silent, warn: (message: string) => void warnings.push(message) }
    const open = (): Promise<Engine> => createEngine({ store, procedures: [account], logger })
    let engine = await open()
    const client = createClient({ store })
    onTestFinished(async () => {
      await client.stop()
      await engine.stop()
      await remove()
    })
    await engine.run(account, 1, { id: 'a' })
    const far = client.get(account, 'a')
    const codeOf = (error: unknown): unknown => (PawlError.is(error) ? error.code : error)
    const first = far.update('charge', 1, { id: 'begun', timeout: '1ms' }).catch(codeOf)
    await vi.waitUntil(() => acted.length === 1, { timeout: 60_000 })
    expect(await first).toBe('wait-timed-out')
    await engine.stop()
    // No worker is there, so no handler begins these: one of the same name, and one of another name.
    await far.signal('tick')
    for (const [name, cents] of [
      ['charge', 2],
      ['refund', 3],
    ] as const)
      expect(await far.update(name, cents, { id: name, timeout: '1ms' }).catch(codeOf)).toBe('wait-timed-out')
    engine = await open()
    expect(await far.update('charge', 2, { id: 'charge' })).toBe('charged 2 in 2')
    expect(await far.update('refund', 3, { id: 'refund' })).toBe('refunded 3 in 2')
    await expect(far.update('charge', 1, { id: 'begun', timeout: '1m' })).rejects.toMatchObject({
      code: 'update-unfinished',
      details: { run: 'a', update: 'charge', status: 'continued' },
    })
    await far.signal('tick')
    await engine.get(account, 'a').result()
    expect(acted).toEqual(['1 in 1', '2 in 2'])
    expect(warnings.filter((one) => one.includes('handlers of updates were at work'))).toEqual([
      `Run "a" has continued while its handlers of updates were at work: "charge". Their callers get 'update-unfinished'. Wait for the handlers before the procedure returns`,
    ])
  })

  test('an update whose handler is at work at the end of its run is unfinished, and a warning names the handler', async () => {
    const warnings: string[] = []
    const { store, remove } = await makePlace()
    const slow = procedure(
      {
        name: 'slow',
        signals: { close: z.void(), go: z.void() },
        updates: { charge: { input: z.void(), output: z.void() } },
      },
      async (ctx) => {
        ctx.on('charge', async () => {
          await ctx.step('charge', () => 'charged')
          await ctx.receive('go')
        })
        await ctx.receive('close')
        if (ctx.runId === 'failed') throw new Error('it fails')
      },
    )
    const logger = { ...silent, warn: (message: string) => void warnings.push(message) }
    const engine = await createEngine({ store, procedures: [slow], logger })
    onTestFinished(async () => {
      await engine.stop()
      await remove()
    })
    for (const id of ['completed', 'failed', 'cancelled']) {
      const run = await engine.run(slow, undefined, { id })
      const reply = run.update('charge', undefined, { id: 'one' }).catch((error: unknown) => error)
      await vi.waitUntil(
        async () =>
          (await engine.log(id)).execution_log.some(
            ({ name, status }) => name === 'charge' && status === 'done',
          ),
        { timeout: 60_000 },
      )
      if (id === 'cancelled') await run.cancel()
      else await run.signal('close')
      expect(await reply).toMatchObject({
        code: 'update-unfinished',
        details: { run: id, update: 'charge', status: id },
      })
    }
    expect(warnings.filter((one) => one.includes('handlers of updates were at work: "charge"'))).toHaveLength(
      3,
    )
  })

  test('an update whose handler ends the run gets its reply', async () => {
    const ending = procedure(
      { name: 'ending', updates: { finish: { input: z.void(), output: z.string() } } },
      async (ctx) => {
        let finish = (): void => {}
        const isFinished = new Promise<void>((resolve) => {
          finish = resolve
        })
        ctx.on('finish', () => {
          finish()
          return 'finished'
        })
        await ctx.race({ finished: async (_ctx) => isFinished, late: (ctx) => ctx.sleep('1d') })
      },
    )
    const { engine, client } = await start(ending)
    const run = await engine.run(ending, undefined, { id: 'e' })
    expect(await client.get(ending, 'e').update('finish', undefined)).toBe('finished')
    await run.result()
  })

  test('a run that waits for updates only awaits something foreign', async () => {
    const waiting = procedure(
      { name: 'waiting', updates: { go: { input: z.void(), output: z.void() } } },
      async (ctx) => {
        await new Promise<void>((resolve) => ctx.on('go', () => resolve()))
      },
    )
    const { engine } = await start(waiting)
    const run = await engine.run(waiting, undefined, { id: 'w' })
    await expect(run.result()).rejects.toMatchObject({ code: 'foreign-await' })
  })

  test('a parked run resumes for an update on an engine that is started later', async () => {
    const { engine, client, restart } = await start(document)
    await engine.run(document, undefined, { id: 'd' })
    expect(await client.get(document, 'd').state('title', { wait: '60s' })).toBe('Untitled')
    await restart()
    expect(await client.get(document, 'd').update('rename', 'Blue')).toBe('Untitled')
    const last = await restart()
    expect(await client.get(document, 'd').update('rename', 'Green')).toBe('Blue')
    const run = last.get(document, 'd')
    await run.signal('close')
    expect(await run.result()).toBe('Green')
    expect(await run.state('renamed')).toBe(2)
  })

  test('a progress beyond its ranges is refused, and the one before stays', async () => {
    const refused: unknown[] = []
    const careless = procedure({ name: 'careless', signals: { go: z.void() } }, async (ctx) => {
      ctx.progress({ done: 1, message: 'x'.repeat(1_000) })
      for (const progress of [
        { done: 2, message: 'x'.repeat(1_001) },
        { done: 2, message: '' },
        { done: -1 },
        { done: Number.NaN },
        { done: 2, total: Number.POSITIVE_INFINITY },
      ])
        try {
          ctx.progress(progress)
        } catch (error) {
          refused.push(PawlError.is(error) && error.code)
        }
      await ctx.receive('go')
    })
    const { engine } = await start(careless)
    const run = await engine.run(careless)
    await run.signal('go')
    await run.result()
    expect(refused).toEqual(Array(5).fill('option-invalid'))
    expect((await run.status()).progress).toMatchObject({ done: 1 })
  })

  test('the progress is shown while a step is at work, while the run waits, and after its end', async () => {
    let next = (): void => {}
    const isSeen = new Promise<void>((resolve) => {
      next = resolve
    })
    const counting = procedure({ name: 'counting', signals: { go: z.void() } }, async (ctx) => {
      ctx.progress({ done: 1, total: 3, message: 'copying' })
      await ctx.step('copy', () => isSeen)
      ctx.progress({ done: 2, total: 3 })
      await ctx.receive('go')
      ctx.progress({ done: 3 })
    })
    const { engine, client } = await start(counting)
    const run: RunHandle<void> = await engine.run(counting, undefined, { id: 'c' })
    const seen = async (done: number) => {
      for (;;) {
        const { progress, status } = await client.get('c').status()
        if (progress?.done === done) return { ...progress, status }
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
    }
    expect(await seen(1)).toEqual({ done: 1, total: 3, message: 'copying', status: 'running' })
    next()
    expect(await seen(2)).toMatchObject({ total: 3, message: undefined })
    expect((await client.list()).items[0]?.progress).toEqual({ done: 2, total: 3, message: undefined })
    await engine.get(counting, 'c').signal('go')
    await run.result()
    expect(await seen(3)).toEqual({ done: 3, total: undefined, message: undefined, status: 'completed' })
  })
})
