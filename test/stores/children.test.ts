import {
  createEngine,
  type Engine,
  type Logger,
  PawlError,
  type Procedure,
  procedure,
  type RunHandle,
  ref,
  type Store,
} from '@pawl/core'
import { connectTo } from '@pawl/core/storage'
import { describe, expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { makePlaces } from '../support/test-store.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

const double = procedure(
  { name: 'double', input: z.object({ n: z.number() }), output: z.number() },
  (ctx, { n }) => ctx.step('double', () => 2 * n),
)
const failing = procedure({ name: 'failing' }, async () => {
  throw Object.assign(new Error('out of stock'), { name: 'OutOfStock' })
})
const broken = procedure({ name: 'broken' }, async () => {
  throw new TypeError('a bug')
})
const receiving = procedure({ name: 'receiving', signals: { go: z.number() } }, (ctx) => ctx.receive('go'))
const endless = procedure({ name: 'endless' }, (ctx) => ctx.sleep('300d'))

// biome-ignore lint/suspicious/noExplicitAny: procedures of any types
type AnyProcedure = Procedure<any, any, any>

describe('child runs', () => {
  const makePlace = makePlaces()
  /** Starts engines on one store: each executes the procedures it is given. */
  async function setUp(): Promise<{
    readonly store: Store
    readonly start: (...procedures: readonly AnyProcedure[]) => Promise<Engine>
  }> {
    const { store, remove } = await makePlace()
    const engines: Engine[] = []
    onTestFinished(async () => {
      for (const engine of engines) await engine.stop()
      await remove()
    })
    const start = async (...procedures: readonly AnyProcedure[]): Promise<Engine> => {
      const engine = await createEngine({ store, procedures, logger: silent })
      engines.push(engine)
      return engine
    }
    return { store, start }
  }

  /** Runs a parent in one engine and the procedures of its children in another. */
  async function run<Output>(
    body: Parameters<typeof procedure<{ readonly name: 'parent' }, Output>>[1],
    ...others: readonly AnyProcedure[]
  ): Promise<{ readonly engine: Engine; readonly run: RunHandle<Output> }> {
    const { start } = await setUp()
    const parent = procedure({ name: 'parent' }, body)
    const engine = await start(parent)
    if (others.length > 0) await start(...others)
    return { engine, run: (await engine.run(parent, undefined, { id: 'p' })) as unknown as RunHandle<Output> }
  }

  test('a call returns the output of its child, which another worker executes', async () => {
    const { engine, run: parent } = await run((ctx) => ctx.call(double, { n: 21 }), double)
    expect(await parent.result()).toBe(42)
    const children = (await engine.list()).items.filter(({ procedure }) => procedure === 'double')
    expect(children).toHaveLength(1)
    expect(children[0]?.id).toMatch(/^p\.0-[0-9a-f]{8}$/)
    const { execution_log } = await engine.log('p')
    expect(execution_log).toMatchObject([
      { position: 0, type: 'child', name: 'double', status: 'done', result: 42 },
    ])
  })

  test('a child names its parent and the position of its call, and the list of a parent has its children', async () => {
    let tell = (): void => {}
    const isReady = new Promise<void>((resolve) => {
      tell = resolve
    })
    const { engine, run: parent } = await run(async (ctx) => {
      const spawned = await ctx.spawn(receiving, undefined, { id: 'c' })
      const called = ctx.call(receiving, undefined, { id: 'd' })
      await spawned.signal('go', 1)
      const first = await spawned.result()
      await ctx.step('ready', () => tell())
      return first + (await called)
    }, receiving)
    const parentOf = async (id: string) => (await engine.get(id).status()).parent
    await isReady
    expect((await engine.log('p')).execution_log.slice(0, 4)).toMatchObject([
      { position: 0, type: 'spawn', status: 'done' },
      { position: 1, type: 'child', status: 'open', result: null },
      { position: 2, type: 'send', status: 'done' },
      { position: 3, type: 'result' },
    ])
    expect([await parentOf('c'), await parentOf('d'), await parentOf('p')]).toEqual([
      { run: 'p', position: 0 },
      { run: 'p', position: 1 },
      undefined,
    ])
    const children = (await engine.list({ parent: 'p' })).items
    expect(children.map(({ id, parent }) => [id, parent?.position])).toEqual([
      ['d', 1],
      ['c', 0],
    ])
    expect((await engine.list({ parent: 'p', status: 'completed' })).items.map(({ id }) => id)).toEqual(['c'])
    await engine.get(receiving, 'd').signal('go', 2)
    expect(await parent.result()).toBe(3)
  })

  test('many calls at once each get their own result', async () => {
    const numbers = Array.from({ length: 50 }, (_, index) => index)
    const { run: parent } = await run(
      (ctx) => Promise.all(numbers.map((n) => ctx.call(double, { n }))),
      double,
    )
    expect(await parent.result()).toEqual(numbers.map((n) => 2 * n))
  })

  test('a child of a child tells its parent', async () => {
    const middle = procedure({ name: 'middle' }, async (ctx) => 1 + (await ctx.call(double, { n: 4 })))
    const { run: parent } = await run((ctx) => ctx.call(middle), middle, double)
    expect(await parent.result()).toBe(9)
  })

  test('a child that fails rejects the call with run-failed and the recorded cause', async () => {
    const { run: parent } = await run(async (ctx) => {
      const error = await ctx.call(failing).catch((reason: unknown) => reason)
      if (!PawlError.is(error, 'run-failed')) throw error
      return [error.details.cause.name, error.details.cause.message, (error.cause as Error).message]
    }, failing)
    expect(await parent.result()).toEqual(['OutOfStock', 'out of stock', 'out of stock'])
  })

  test('a child that others cancel rejects the call with run-cancelled', async () => {
    const { engine, run: parent } = await run(async (ctx) => {
      const error = await ctx.call(endless, undefined, { id: 'child' }).catch((reason: unknown) => reason)
      return PawlError.is(error, 'run-cancelled') ? error.details : null
    }, endless)
    await untilThere(engine, 'child')
    await engine.cancel('child', 'not needed')
    expect(await parent.result()).toEqual({ run: 'child', reason: 'not needed' })
  })

  test('a stuck child that is cancelled ends without its code, and its parent hears of it', async () => {
    const { engine, run: parent } = await run(async (ctx) => {
      const error = await ctx.call(broken, undefined, { id: 'child' }).catch((reason: unknown) => reason)
      return PawlError.is(error, 'run-cancelled') ? error.details : null
    }, broken)
    await until(async () => (await engine.list({ status: 'stuck' })).items.length === 1)
    await engine.cancel('child', 'it is broken')
    expect(await parent.result()).toEqual({ run: 'child', reason: 'it is broken' })
  })

  test('an invalid input rejects the call and creates no run', async () => {
    const { engine, run: parent } = await run(async (ctx) => {
      const error = await ctx
        .call(double, { n: 'x' } as unknown as { n: number })
        .catch((reason: unknown) => reason)
      return PawlError.is(error, 'input-invalid') ? error.details.issues[0]?.path : null
    }, double)
    expect(await parent.result()).toBe('n')
    expect((await engine.list()).items).toHaveLength(1)
  })

  test('a child that is called by reference is checked where it runs', async () => {
    const byName = ref<typeof double>('double')
    const { run: parent } = await run(async (ctx) => {
      const error = await ctx
        .call(byName, { n: 'x' } as unknown as { n: number })
        .catch((reason: unknown) => reason)
      const cause = PawlError.is(error, 'run-failed') ? error.details.cause.code : null
      return [cause, await ctx.call(byName, { n: 3 })]
    }, double)
    expect(await parent.result()).toEqual(['input-invalid', 6])
  })

  test('a taken id rejects a call with id-taken', async () => {
    const { start } = await setUp()
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      const error = await ctx.call(double, { n: 1 }, { id: 'taken' }).catch((reason: unknown) => reason)
      return PawlError.is(error, 'id-taken') ? error.details.id : null
    })
    const engine = await start(parent, double)
    await (await engine.run(double, { n: 1 }, { id: 'taken' })).result()
    expect(await (await engine.run(parent)).result()).toBe('taken')
  })

  test('two calls of one id create one child, and the other call is rejected', async () => {
    const { run: parent } = await run(async (ctx) => {
      const calls = [ctx.call(double, { n: 1 }, { id: 'one' }), ctx.call(double, { n: 2 }, { id: 'one' })]
      return (await Promise.allSettled(calls)).map(({ status }) => status)
    }, double)
    expect(await parent.result()).toEqual(['fulfilled', 'rejected'])
  })

  test('a spawn returns a handle, and the run that has the id already', async () => {
    const { engine, run: parent } = await run(async (ctx) => {
      const first = await ctx.spawn(double, { n: 5 }, { id: 'child' })
      const again = await ctx.spawn(double, { n: 5 }, { id: 'child' })
      return [first.id, again.id, await first.result(), await again.result()]
    }, double)
    expect(await parent.result()).toEqual(['child', 'child', 10, 10])
    expect((await engine.list()).items).toHaveLength(2)
  })

  test('a spawn of the id of a run of another procedure is rejected', async () => {
    const { run: parent } = await run(async (ctx) => {
      await ctx.spawn(double, { n: 5 }, { id: 'child' })
      const error = await ctx.spawn(failing, undefined, { id: 'child' }).catch((reason: unknown) => reason)
      return PawlError.is(error, 'id-taken')
    }, double)
    expect(await parent.result()).toBe(true)
  })

  test('a spawn of the id of a run with another input is rejected, also if both are spawned at once', async () => {
    const { engine, run: parent } = await run(async (ctx) => {
      const codeOf = (error: unknown) => (PawlError.is(error) ? error.code : error)
      const spawn = (n: number, id: string) => ctx.spawn(double, { n }, { id }).then(({ id }) => id, codeOf)
      const one = await spawn(5, 'child')
      return [
        one,
        await spawn(6, 'child'),
        await spawn(5, 'child'),
        ...(await Promise.all([spawn(7, 'other'), spawn(8, 'other')])),
      ]
    }, double)
    expect(await parent.result()).toEqual(['child', 'id-taken', 'child', 'other', 'id-taken'])
    expect((await engine.list()).items).toHaveLength(3)
  })

  test('a spawn finds the run that a caller has started with the same input, which its schema transforms', async () => {
    const { start } = await setUp()
    const trimmed = procedure(
      { name: 'trimmed', input: z.object({ n: z.string().transform(Number) }), output: z.number() },
      async (_ctx, { n }) => n,
    )
    const parent = procedure({ name: 'parent' }, async (ctx) =>
      (await ctx.spawn(trimmed, { n: '7' }, { id: 'child' })).result(),
    )
    const engine = await start(parent, trimmed)
    await engine.run(trimmed, { n: '7' }, { id: 'child' })
    expect(await (await engine.run(parent)).result()).toBe(7)
  })

  test('two spawns of one id at once are one run', async () => {
    const { run: parent } = await run(async (ctx) => {
      const handles = await Promise.all([
        ctx.spawn(double, { n: 5 }, { id: 'child' }),
        ctx.spawn(double, { n: 5 }, { id: 'child' }),
      ])
      return Promise.all(handles.map((handle) => handle.result()))
    }, double)
    expect(await parent.result()).toEqual([10, 10])
  })

  test('the result of a run that ended before is read, and of one that is missing is rejected', async () => {
    const { start } = await setUp()
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      const code = (error: unknown) => (PawlError.is(error) ? error.code : error)
      return [
        await ctx.get(double, 'done').result(),
        await ctx.get(failing, 'failed').result().catch(code),
        await ctx.get(double, 'missing').result().catch(code),
        await ctx.get(endless, 'cancelled').result().catch(code),
      ]
    })
    const engine = await start(parent, double, failing, endless)
    await (await engine.run(double, { n: 2 }, { id: 'done' })).result()
    await (await engine.run(failing, undefined, { id: 'failed' })).result().catch(() => {})
    const cancelled = await engine.run(endless, undefined, { id: 'cancelled' })
    await cancelled.cancel()
    await cancelled.result().catch(() => {})
    expect(await (await engine.run(parent)).result()).toEqual([
      4,
      'run-failed',
      'run-not-found',
      'run-cancelled',
    ])
  })

  test('several runs wait for one end, and each hears of it', async () => {
    const { start } = await setUp()
    const watching = procedure({ name: 'watching' }, (ctx) => ctx.get(receiving, 'target').result())
    const engine = await start(watching)
    const other = await start(receiving)
    await other.run(receiving, undefined, { id: 'target' })
    const runs = await Promise.all(Array.from({ length: 5 }, () => engine.run(watching)))
    await until(async () =>
      (await engine.list({ procedure: 'watching' })).items.every(({ status }) => status === 'waiting'),
    )
    await engine.get(receiving, 'target').signal('go', 7)
    expect(await Promise.all(runs.map((one) => one.result()))).toEqual([7, 7, 7, 7, 7])
  })

  test('signals go both ways', async () => {
    const pinging = procedure(
      { name: 'pinging', signals: { pong: z.number() }, input: z.string() },
      async (ctx, to) => {
        await ctx.get(receiving, to).signal('go', 1)
        return ctx.receive('pong')
      },
    )
    const { run: parent, engine } = await run(
      async (ctx) => {
        const target = await ctx.spawn(receiving, undefined, { id: 'target' })
        const pinger = await ctx.spawn(pinging, 'target', { id: 'pinger' })
        const got = await target.result()
        await pinger.signal('pong', (got as number) + 1)
        return pinger.result()
      },
      receiving,
      pinging,
    )
    expect(await parent.result()).toBe(2)
    expect((await engine.log('p')).execution_log.map(({ type }) => type)).toEqual([
      'spawn',
      'spawn',
      'result',
      'send',
      'result',
    ])
  })

  test('a signal to a run that has ended or is missing is rejected, and its neighbours are sent', async () => {
    const { start } = await setUp()
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      const sent = await Promise.allSettled([
        ctx.get(receiving, 'ended').signal('go', 1),
        ctx.get(receiving, 'missing').signal('go', 1),
        ctx.get(receiving, 'there').signal('go', 5),
        ctx.get(receiving, 'there').signal('go', 'x' as unknown as number),
      ])
      return sent.map((one) => (one.status === 'rejected' ? (one.reason as PawlError).code : 'sent'))
    })
    const engine = await start(parent, receiving)
    const ended = await engine.run(receiving, undefined, { id: 'ended' })
    await ended.signal('go', 1)
    await ended.result()
    const there = await engine.run(receiving, undefined, { id: 'there' })
    expect(await (await engine.run(parent)).result()).toEqual([
      'run-ended',
      'run-not-found',
      'sent',
      'payload-invalid',
    ])
    expect(await there.result()).toBe(5)
  })

  test('a procedure cancels another run, and one that has ended stays as it is', async () => {
    const { run: parent, engine } = await run(async (ctx) => {
      const child = await ctx.spawn(endless, undefined, { id: 'child' })
      await child.cancel('enough')
      const error = await child.result().catch((reason: unknown) => reason)
      await child.cancel()
      return PawlError.is(error, 'run-cancelled') ? error.details.reason : null
    }, endless)
    expect(await parent.result()).toBe('enough')
    expect(await engine.get(endless, 'child').status()).toMatchObject({ status: 'cancelled' })
  })

  test('a parent that completes cancels its live children, unless they are detached', async () => {
    const { run: parent, engine } = await run(async (ctx) => {
      await ctx.spawn(endless, undefined, { id: 'spawned' })
      await ctx.spawn(endless, undefined, { id: 'detached', onParentEnd: 'detach' })
      const both = [
        ctx.call(endless, undefined, { id: 'called' }),
        ctx.call(endless, undefined, { id: 'called detached', onParentEnd: 'detach' }),
      ]
      for (const call of both) call.catch(() => {})
      await ctx.sleep('50ms')
      await ctx.step('one more turn', () => 1)
    }, endless)
    await parent.result()
    for (const id of ['spawned', 'called'])
      await expect(engine.get(endless, id).result()).rejects.toMatchObject({ code: 'run-cancelled' })
    for (const id of ['detached', 'called detached'])
      expect((await engine.get(endless, id).status()).cancelRequestedAt).toBeUndefined()
  })

  test('a parent that fails cancels its live children', async () => {
    const { run: parent, engine } = await run(async (ctx) => {
      await ctx.spawn(endless, undefined, { id: 'spawned' })
      throw new Error('no')
    }, endless)
    await expect(parent.result()).rejects.toMatchObject({ code: 'run-failed' })
    await expect(engine.get(endless, 'spawned').result()).rejects.toMatchObject({ code: 'run-cancelled' })
  })

  test('a parent with more children than one unit cancels them all', async () => {
    const count = 450
    const { run: parent, engine } = await run(async (ctx) => {
      await ctx.map(
        Array.from({ length: count }, (_, i) => i),
        (i, ctx) => ctx.spawn(endless, undefined, { id: `c${i}` }),
        {
          concurrency: 100,
        },
      )
    }, endless)
    await parent.result()
    await until(async () => (await countOf(engine, 'cancelled')) === count)
  }, 60_000)

  test('children follow a cancelled parent, and theirs follow them', async () => {
    const middle = procedure({ name: 'middle' }, (ctx) => ctx.call(endless, undefined, { id: 'leaf' }))
    const { run: parent, engine } = await run(
      (ctx) => ctx.call(middle, undefined, { id: 'middle' }),
      middle,
      endless,
    )
    await untilThere(engine, 'leaf')
    await parent.cancel('stop')
    await expect(parent.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    await expect(engine.get(endless, 'leaf').result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect((await engine.log('p')).execution_log).toMatchObject([{ type: 'child', status: 'withdrawn' }])
  })

  test('children follow a parent that is rolled back', async () => {
    const { run: parent, engine } = await run(async (ctx) => {
      ctx.onRollback('tell', () => 'told')
      await ctx.spawn(endless, undefined, { id: 'spawned' })
      const call = ctx.call(endless, undefined, { id: 'called' })
      call.catch(() => {})
      await ctx.sleep('50ms')
      throw new Error('no')
    }, endless)
    await expect(parent.result()).rejects.toMatchObject({ code: 'run-failed' })
    for (const id of ['spawned', 'called'])
      await expect(engine.get(endless, id).result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect((await parent.status()).rollback).toMatchObject({ undone: ['tell'] })
  })

  test('a call that loses a race is cancelled, and its late end leaves no message unread', async () => {
    const { store, start } = await setUp()
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      const first = await ctx.race({
        call: ctx.call(endless, undefined, { id: 'child' }),
        late: ctx.sleep('50ms'),
      })
      await ctx.sleep('300d')
      return first.winner
    })
    const engine = await start(parent)
    await start(endless)
    const run = await engine.run(parent, undefined, { id: 'p' })
    await expect(
      until(async () => (await engine.list({ status: 'cancelled' })).items.some(({ id }) => id === 'child')),
    ).resolves.toBeUndefined()
    const port = connectTo(store)
    if (port === undefined) throw new Error('not a store')
    await port.open()
    onTestFinished(() => port.close())
    await until(async () => {
      const row = await port.runs.find('p')
      return row !== null && row.mail === 1 && (await port.mail.list(row.run, 0)).length === 0
    })
    expect((await run.status()).status).toBe('waiting')
    expect((await engine.log('p')).execution_log[0]).toMatchObject({ type: 'child', status: 'withdrawn' })
  })

  test('a run that nests too deep is refused', async () => {
    const deep: AnyProcedure = procedure(
      { name: 'deep', input: z.number() },
      async (ctx, n): Promise<unknown> => {
        const error = await Promise.resolve()
          .then(() => ctx.call(deep, n + 1))
          .catch((reason: unknown) => reason)
        return error instanceof Error ? [n, PawlError.is(error) && error.code] : error
      },
    )
    const { start } = await setUp()
    const engine = await start(deep)
    expect(await (await engine.run(deep, 0)).result()).toEqual([64, 'option-invalid'])
  }, 60_000)

  test('a run refuses to wait for itself', async () => {
    const { run: parent } = await run(async (ctx) => {
      try {
        ctx.get(double, 'p')
      } catch (error) {
        return PawlError.is(error) ? error.code : null
      }
      return null
    })
    expect(await parent.result()).toBe('option-invalid')
  })
})

async function untilThere(engine: Engine, id: string): Promise<void> {
  await until(async () => (await engine.list()).items.some((one) => one.id === id))
}

async function countOf(engine: Engine, status: 'cancelled'): Promise<number> {
  let count = 0
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page = await engine.list({ status, limit: 200, ...(cursor === undefined ? {} : { cursor }) })
    count += page.items.length
    cursor = page.cursor
  }
  return count
}

async function until(check: () => Promise<boolean>): Promise<void> {
  while (!(await check())) await new Promise((resolve) => setTimeout(resolve, 10))
}
