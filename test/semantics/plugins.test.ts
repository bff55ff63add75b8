import {
  type AnsweredBy,
  type Client,
  checkRuns,
  createClient,
  createEngine,
  type Engine,
  type EngineOptions,
  type FeedEvent,
  type Plugin,
  type PluginHost,
  type Procedure,
  procedure,
} from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'

const silent = { debug() {}, info() {}, warn() {}, error() {} }
const tell = procedure({ name: 'tell' }, async (ctx) => {
  await ctx.human.notify('It is late', { severity: 'critical' })
})
const approve = procedure({ name: 'approve' }, (ctx) => ctx.human.approve('Go?', { to: 'group:ops' }))

async function start(plugins: readonly Plugin[], options: Partial<EngineOptions> = {}): Promise<Engine> {
  const given = { store: memory(), procedures: [tell, approve], plugins, logger: silent }
  const engine = await createEngine({ ...given, ...options })
  onTestFinished(() => engine.stop())
  return engine
}

/** A plug-in that notes when it starts and stops. */
function noting(name: string, told: string[], more: Partial<Plugin> = {}): Plugin {
  return {
    name,
    start: () => {
      told.push(`${name} starts`)
      return () => void told.push(`${name} stops`)
    },
    ...more,
  }
}

/** A plug-in that keeps what it is given. */
function keeping(procedures: NonNullable<Plugin['procedures']> = []) {
  const given: { client?: Client; host?: PluginHost } = {}
  const plugin: Plugin = {
    ...{ name: 'keeping', procedures },
    start: (client, host) => void Object.assign(given, { client, host }),
  }
  return { given, plugin }
}

describe('a plug-in', () => {
  test('has procedures, which the engine executes, and a client', async () => {
    const double = procedure({ name: 'pawl.double', input: z.number() }, async (_, n) => n * 2)
    const { given, plugin } = keeping([double])
    await start([plugin])
    const run = await given.client!.run(double, 21, { id: 'pawl.double:1' })
    expect(await run.result()).toBe(42)
  })

  test('is started before runs are executed, so that its procedures have what it got', async () => {
    const store = memory()
    const client = createClient({ store })
    onTestFinished(() => client.stop())
    const count: Procedure<undefined, number> = procedure({ name: 'pawl.count' }, (ctx) =>
      ctx.step('count', async () => (await given.client!.list()).items.length),
    )
    const { given, plugin } = keeping([count])
    await client.run(count, undefined, { id: 'pawl.count:1' })
    const second = await start([plugin], { store, procedures: [] })
    expect(await second.get(count, 'pawl.count:1').result()).toBe(1)
  })

  test('starts in the order of the list, and stops in the reverse order, while the engine works', async () => {
    const told: string[] = []
    let client: Client | undefined
    const last = noting('last', told, {
      start: (given) => {
        client = given
        told.push('last starts')
        return async () => void told.push(`last stops with ${(await client!.list()).items.length} runs`)
      },
    })
    const engine = await start([noting('first', told), last])
    await engine.stop()
    expect(told).toEqual(['first starts', 'last starts', 'last stops with 0 runs', 'first stops'])
  })

  test('that throws in `start` keeps the engine from starting, and those before it are stopped', async () => {
    const told: string[] = []
    const broken = noting('broken', told, { start: () => Promise.reject(new Error('no port')) })
    const started = start([noting('first', told), broken, noting('never', told)])
    await expect(started).rejects.toThrow('no port')
    expect(told).toEqual(['first starts', 'first stops'])
  })

  test('that does not stop in time, or throws, does not keep the others from stopping', async () => {
    const told: string[] = []
    const error = vi.fn()
    const hanging = noting('hanging', told, { start: () => () => new Promise(() => {}) })
    const throwing = noting('throwing', told, {
      start: () => () => {
        throw new Error('lost')
      },
    })
    const logger = { ...silent, error }
    const engine = await start([noting('first', told), hanging, throwing], { logger })
    await engine.stop()
    expect(told).toEqual(['first starts', 'first stops'])
    expect(error).toHaveBeenCalledWith('Plug-in throwing could not be stopped.', expect.anything())
  })

  test('has its runs checked with those of the engine, also by `checkRuns`', async () => {
    const store = memory()
    const wait = procedure({ name: 'pawl.wait' }, (ctx) => ctx.sleep('1d'))
    const plugin: Plugin = { name: 'waiting', procedures: [wait] }
    const engine = await start([plugin], { store })
    const run = await engine.run(wait, undefined, { id: 'pawl.wait:1' })
    await expect.poll(async () => (await run.status()).status).toBe('waiting')
    expect(await engine.check()).toMatchObject([{ verdict: 'same' }])
    await engine.stop()
    const options = { store, procedures: [], logger: silent }
    expect(await checkRuns({ ...options, plugins: [plugin] })).toMatchObject([{ verdict: 'same' }])
  })

  test('works in a test engine, on virtual time', async () => {
    const remind = procedure({ name: 'pawl.remind' }, async (ctx) => {
      await ctx.sleep('1h')
    })
    const plugin: Plugin = {
      name: 'reminding',
      procedures: [remind],
      start: (client, host) =>
        void host.follow('notices', async (event) => {
          if (event.event === 'notice')
            await client.runOrGet(remind, undefined, { id: `pawl.remind:${event.n}` })
        }),
    }
    await using engine = await testEngine({ procedures: [tell], plugins: [plugin], logger: silent })
    await (await engine.run(tell)).result()
    await engine.advance('2h')
    const { items } = await engine.list({ procedure: 'pawl.remind' })
    expect(items).toMatchObject([{ status: 'completed' }])
  })
})

describe('`follow`', () => {
  /** Follows the feed and notes its events. */
  function following(told: string[], handle = (_: FeedEvent): void => {}): Plugin {
    return {
      name: 'following',
      start: (_, host) =>
        void host.follow('the feed', (event) => {
          handle(event)
          told.push(event.event)
        }),
    }
  }

  test('calls for each event since the engine started, in order', async () => {
    const store = memory()
    const before = await start([], { store })
    await (await before.run(tell)).result()
    await before.stop()
    const told: string[] = []
    const engine = await start([following(told)], { store })
    await (await engine.run(tell)).result()
    await expect.poll(() => told).toEqual(['notice', 'run.ended'])
  })

  test('calls again for an event that was not handled, after a warning', async () => {
    const told: string[] = []
    const warn = vi.fn()
    let isDown = true
    const plugin = following(told, ({ event }) => {
      if (event === 'notice' && isDown) {
        isDown = false
        throw new Error('down')
      }
    })
    const engine = await start([plugin], { logger: { ...silent, warn } })
    await (await engine.run(tell)).result()
    await expect.poll(() => told).toEqual(['notice', 'run.ended'])
    expect(warn).toHaveBeenCalledWith(
      'Plug-in following cannot follow the feed. Retrying in 1000 ms.',
      expect.objectContaining({ error: expect.any(Error) }),
    )
  })

  test('begins after the number that `after` returns, and asks again if that throws', async () => {
    const store = memory()
    const before = await start([], { store })
    await (await before.run(tell)).result()
    await before.stop()
    const told: number[] = []
    let calls = 0
    const after = async (): Promise<number> => {
      calls += 1
      if (calls === 1) throw new Error('down')
      return 1
    }
    const plugin: Plugin = {
      name: 'following',
      start: (_, host) => void host.follow('the feed', ({ n }) => void told.push(n), { after }),
    }
    await start([plugin], { store })
    await expect.poll(() => told).toEqual([2])
    expect(calls).toBe(2)
  })

  test('ends when its function is called, and when the plug-in is stopped', async () => {
    const told: string[] = []
    const { given, plugin } = keeping()
    const engine = await start([plugin])
    const host = given.host!
    const end = host.follow('a', () => void told.push('a'))
    host.follow('b', () => void told.push('b'))
    await end()
    await (await engine.run(tell)).result()
    await expect.poll(() => told).toEqual(['b', 'b'])
    await engine.stop()
    expect(host.signal.aborted).toBe(true)
  })

  test('can be ended within its handler, which then goes on, and gets no further event', async () => {
    const told: string[] = []
    let goOn = (): void => {}
    const held = new Promise<void>((resolve) => {
      goOn = resolve
    })
    const { given, plugin } = keeping()
    const engine = await start([plugin])
    const end = given.host!.follow('the feed', async ({ event }) => {
      told.push(event)
      await end()
      told.push('ended')
      await held
      told.push('went on')
    })
    await (await engine.run(tell)).result()
    await expect.poll(() => told).toEqual(['notice', 'ended'])
    // Others wait for the handler, and so does the engine.
    const ended = end().then(() => told.push('waited'))
    const stopped = engine.stop()
    goOn()
    await Promise.all([ended, stopped])
    expect(told).toEqual(['notice', 'ended', 'went on', 'waited'])
  })

  test('can be ended while `after` says where to begin, also by `after` itself', async () => {
    const { given, plugin } = keeping()
    await start([plugin])
    const told: string[] = []
    const end = given.host!.follow('the feed', () => {}, {
      after: async () => {
        await Promise.resolve()
        await end()
        return void told.push('ended')
      },
    })
    await expect.poll(() => told).toEqual(['ended'])
  })

  test.each([Number.NaN, 'x', 1.5, -1, null])(
    'asks again, after a warning, if `after` returns %s',
    async (place) => {
      const warn = vi.fn()
      const told: number[] = []
      let calls = 0
      const after = (): number => {
        calls += 1
        return calls === 1 ? (place as number) : 0
      }
      const plugin: Plugin = {
        name: 'following',
        start: (_, host) => void host.follow('the feed', ({ n }) => void told.push(n), { after }),
      }
      await using engine = await testEngine({
        procedures: [tell],
        plugins: [plugin],
        logger: { ...silent, warn },
      })
      await (await engine.run(tell)).result()
      await engine.advance('1m')
      await expect.poll(() => told).toEqual([1, 2])
      expect(warn.mock.calls).toEqual([
        [
          'Plug-in following cannot follow the feed. Retrying in 1000 ms.',
          {
            error: expect.objectContaining({
              code: 'option-invalid',
              message: expect.stringContaining('result of after of follow'),
            }),
          },
        ],
      ])
    },
  )

  test('in two engines starts one run for each event', async () => {
    const store = memory()
    const page = procedure({ name: 'pawl.page' }, async () => 'paged')
    const plugin = (): Plugin => ({
      name: 'paging',
      procedures: [page],
      start: (client, host) =>
        void host.follow('notices', async ({ event, n }) => {
          if (event === 'notice') await client.runOrGet(page, undefined, { id: `pawl.page:${n}` })
        }),
    })
    const one = await start([plugin()], { store })
    await start([plugin()], { store })
    for (let count = 0; count < 3; count += 1) await (await one.run(tell)).result()
    await expect
      .poll(async () => (await one.list({ procedure: 'pawl.page', status: 'completed' })).items.length)
      .toBe(3)
    expect((await one.list({ procedure: 'pawl.page' })).items).toHaveLength(3)
  })
})

describe('`answer` of a plug-in', () => {
  async function ask(options: Partial<EngineOptions> = {}) {
    const { given, plugin } = keeping()
    const engine = await start([plugin], options)
    const run = await engine.run(approve, undefined, { by: 'user:ana' })
    return { run, ask: await engine.inbox.next({ run: run.id }), host: given.host! }
  }
  const yes = { decision: 'approve' }

  test('answers as a person to whom the ask is addressed', async () => {
    const s = await ask()
    await s.host.answer(s.ask, yes, { as: 'user:bob', names: ['group:ops'], via: 'chat' })
    expect(await s.run.result()).toMatchObject({ approved: true, by: 'user:bob' })
  })

  test('refuses another person', async () => {
    const s = await ask()
    const answered = s.host.answer(s.ask, yes, { as: 'user:bob' })
    await expect(answered).rejects.toMatchObject({ code: 'answer-forbidden' })
  })

  test('refuses who started the run with `selfApproval: false`', async () => {
    const s = await ask({ selfApproval: false })
    const answered = s.host.answer(s.ask, yes, { as: 'user:ana', names: ['group:ops'] })
    await expect(answered).rejects.toMatchObject({ code: 'answer-forbidden' })
  })

  test.each<[string, Pick<AnsweredBy, 'actedBy' | 'madeBy'>]>([
    ['acts for the person', { actedBy: 'user:ana' }],
    ['has made the link of the person', { madeBy: 'user:ana' }],
    ['has made the link of who acts', { madeBy: 'user:ana', actedBy: 'user:eve' }],
  ])('refuses, with `selfApproval: false`, if who started the run %s', async (_, behind) => {
    const by: AnsweredBy = { as: 'user:bob', names: ['group:ops'], ...behind }
    const s = await ask({ selfApproval: false })
    await expect(s.host.answer(s.ask, yes, by)).rejects.toMatchObject({ code: 'answer-forbidden' })
    expect((await s.run.status()).status).not.toBe('completed')
    const free = await ask()
    await free.host.answer(free.ask, yes, by)
    expect(await free.run.result()).toMatchObject({ approved: true, by: 'user:bob' })
  })

  test('goes by the one who acts for the person: the ask must be addressed to them', async () => {
    const human = procedure({ name: 'human' }, (ctx) => ctx.human.approve('Go?', { to: 'user:bob' }))
    const { given, plugin } = keeping()
    const engine = await start([plugin], { procedures: [human] })
    const run = await engine.run(human)
    const asked = await engine.inbox.next({ run: run.id })
    const answered = given.host!.answer(asked, yes, { as: 'user:bob', actedBy: 'user:eve' })
    await expect(answered).rejects.toMatchObject({ code: 'answer-forbidden' })
    await given.host!.answer(asked, yes, { as: 'user:eve', actedBy: 'user:bob' })
    expect(await run.result()).toMatchObject({ approved: true, by: 'user:eve' })
  })

  test('judges the ask that is stored, whatever the plug-in passes', async () => {
    const s = await ask({ selfApproval: false })
    const forged = { ...s.ask, to: [], startedBy: undefined }
    for (const by of [{ as: 'user:eve' }, { as: 'user:ana', names: ['group:ops'] }] as const)
      await expect(s.host.answer(forged, yes, by)).rejects.toMatchObject({ code: 'answer-forbidden' })
    const none = s.host.answer({ ...s.ask, id: 'none' }, yes, { as: 'user:bob', names: ['group:ops'] })
    await expect(none).rejects.toMatchObject({ code: 'ask-not-found' })
    expect((await s.run.status()).status).not.toBe('completed')
  })

  test('is refused in a turn of a procedure, as the calls of a client are', async () => {
    const s = await ask()
    const wrong = procedure({ name: 'pawl.wrong', bugs: 'fail' }, () =>
      s.host.answer(s.ask, yes, { as: 'user:bob', names: ['group:ops'] }),
    )
    await using engine = await testEngine({ procedures: [], plugins: [{ name: 'a', procedures: [wrong] }] })
    await expect((await engine.run(wrong, undefined, { id: 'pawl.wrong:1' })).result()).rejects.toThrow(
      'host.answer() was called in a turn of run pawl.wrong:1',
    )
  })
})

describe('createEngine refuses', () => {
  const named = (name: string): Plugin => ({ name, start: () => {} })
  const of = (name: string) => procedure({ name }, async () => {})

  test.each<[string, readonly unknown[], string]>([
    [
      'two plug-ins with one name',
      [named('a'), named('b'), named('a')],
      'Plug-ins 1 and 3 of the list are both named a',
    ],
    ['a plug-in with nothing', [{ name: 'a' }], 'It must have procedures or start.'],
    ['a name with other characters', [named('A b')], 'name of plug-in 1 cannot be'],
    ['a start that is no function', [{ name: 'a', start: true }], 'start of plug-in a'],
    ['a function that was not called', [() => named('a')], 'Call the function, and pass what it returns.'],
    ['a channel', [{ name: 'a', deliver() {} }], 'It is a channel: pass channels([…]) of @pawl/channels.'],
    ['nothing', [undefined], 'plug-in 1'],
  ])('%s', async (_, plugins, message) => {
    const started = start(plugins as readonly Plugin[])
    await expect(started).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining(message),
    })
  })

  test.each<[string, readonly Plugin[], string]>([
    [
      'a procedure of a plug-in that the engine has, also in another version',
      [{ name: 'a', procedures: [procedure({ name: 'tell', version: 2 }, async () => {})] }],
      'Both the option procedures and plug-in a have a procedure named tell.',
    ],
    [
      'a procedure of two plug-ins',
      [
        { name: 'a', procedures: [of('pawl.x')] },
        { name: 'b', procedures: [of('pawl.x')] },
      ],
      'Both plug-in a and plug-in b have a procedure named pawl.x.',
    ],
    [
      'a procedure that a plug-in has twice',
      [{ name: 'a', procedures: [of('pawl.x'), of('pawl.x')] }],
      "Two procedures are named 'pawl.x'",
    ],
  ])('%s', async (_, plugins, message) => {
    await expect(start(plugins)).rejects.toMatchObject({
      code: 'procedure-duplicate',
      message: expect.stringContaining(message),
    })
  })

  test('a procedure of a reserved name that no plug-in has', async () => {
    await expect(start([], { procedures: [of('pawl.mine')] })).rejects.toMatchObject({
      code: 'option-invalid',
      message: expect.stringContaining('for the procedures of plug-ins'),
    })
  })
})

test.each([
  ['an engine without plug-ins does not read the feed', [], 0],
  [
    'an engine whose plug-ins have only procedures does not read the feed',
    [{ name: 'a', procedures: [] }],
    0,
  ],
  [
    'an engine with plug-ins that start reads the feed once, whatever their number',
    [
      { name: 'a', start() {} },
      { name: 'b', start() {} },
    ],
    1,
  ],
])('%s', async (_, plugins, count) => {
  const { store, always } = meddleWith(memory())
  let reads = 0
  always('feed.read', (go) => {
    reads += 1
    return go()
  })
  const engine = await start(plugins, { store })
  await (await engine.run(tell)).result()
  expect(reads).toBe(count)
})
