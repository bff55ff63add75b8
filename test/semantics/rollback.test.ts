import { type Ctx, createEngine, FinalError, procedure, type StepCall } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf } from './support.ts'

const noRetry = { retry: false } as const

/** A procedure that reserves, pays and then fails; `done` receives what each body does. */
function order(done: string[], fail: (ctx: Ctx) => Promise<unknown>) {
  return procedure({ name: 'order' }, async (ctx) => {
    await ctx.step('reserve', () => done.push('reserve'), { undo: () => done.push('release') })
    await ctx.step('hold', () => ({ id: 7 }), { undo: ({ id }) => done.push(`void ${id}`) })
    ctx.onRollback('tell the shop', () => done.push('tell'))
    await fail(ctx)
  })
}

const failing = (ctx: Ctx) =>
  ctx.step(
    'ship',
    () => {
      throw new FinalError('no truck')
    },
    noRetry,
  )

describe('a run that fails', () => {
  test('a failed run undoes its steps in reverse order and ends with the failure', async () => {
    const done: string[] = []
    await using engine = await testEngine({ procedures: [order(done, failing)] })
    const run = await engine.run(order(done, failing), undefined, { id: 'a' })
    await expect(run.result()).rejects.toMatchObject({
      code: 'run-failed',
      details: { cause: { code: 'step-failed' } },
    })
    expect(done).toEqual(['reserve', 'tell', 'void 7', 'release'])
    expect(await run.status()).toMatchObject({
      status: 'failed',
      rollback: {
        undone: ['tell the shop', 'hold', 'reserve'],
        failed: [],
        reason: expect.stringContaining('no truck'),
      },
    })
    const { execution_log: log } = await engine.log('a')
    expect(log.map(({ type, name, status }) => [type, name, status])).toEqual([
      ['step', 'reserve', 'done'],
      ['step', 'hold', 'done'],
      ['step', 'ship', 'failed'],
      ['undo', 'tell the shop', 'done'],
      ['undo', 'hold', 'done'],
      ['undo', 'reserve', 'done'],
    ])
  })

  test('an undo that is registered in the cleanup after the failure runs too', async () => {
    const undone: string[] = []
    const late = procedure({ name: 'late', signals: { a: z.void(), b: z.void() } }, async (ctx) => {
      const first = ctx.receive('a')
      void ctx.receive('b').catch(() => ctx.onRollback('late', () => undone.push('late')))
      await first
    })
    await using engine = await testEngine({ procedures: [late], replay: 'always' })
    const run = await engine.run(late)
    await engine.cancel(run.id)
    await expect(run.result()).rejects.toMatchObject({ code: 'run-cancelled' })
    expect(undone).toEqual(['late'])
  })

  test('a failed run undoes each effect once with a crash after every commit', async () => {
    const done: string[] = []
    const procedures = [order(done, failing)]
    await using engine = await testEngine({ procedures })
    await engine.crash('every')
    const run = await engine.run(procedures[0] as (typeof procedures)[0])
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(done).toEqual(['reserve', 'tell', 'void 7', 'release'])
    expect(engine.calls).toMatchObject({ 'undo hold': 1, 'undo reserve': 1, 'undo tell the shop': 1 })
  })

  test('steps that ran in parallel are undone in reverse order of completion, one at a time', async () => {
    const done: string[] = []
    const gates = new Map<string, () => void>()
    const parallel = procedure({ name: 'parallel' }, async (ctx) => {
      const step = (name: string) =>
        ctx.step(name, () => new Promise<string>((resolve) => gates.set(name, () => resolve(name))), {
          undo: (result) => done.push(`undo ${result}`),
        })
      await Promise.all([step('a'), step('b'), step('c')])
      throw new FinalError('stop')
    })
    const engine = await createEngine({ store: memory(), procedures: [parallel] })
    const run = await engine.run(parallel)
    for (const name of ['b', 'a', 'c']) {
      while (!gates.has(name)) await new Promise((resolve) => setImmediate(resolve))
      gates.get(name)?.()
      const isDone = async () =>
        (await engine.log(run.id)).execution_log.some(
          (entry) => entry.name === name && entry.status === 'done',
        )
      while (!(await isDone())) await new Promise((resolve) => setImmediate(resolve))
    }
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(done).toEqual(['undo c', 'undo a', 'undo b'])
    await engine.stop()
  })

  test('a failing undo is listed, and the next undo runs', async () => {
    const done: string[] = []
    const saga = procedure({ name: 'saga' }, async (ctx) => {
      ctx.onRollback('first', () => done.push('first'))
      ctx.onRollback('second', () => {
        done.push('second')
        throw new FinalError('gone')
      })
      throw new FinalError('stop')
    })
    await using engine = await testEngine({ procedures: [saga] })
    const run = await engine.run(saga)
    await expect(run.result()).rejects.toMatchObject({ details: { cause: { message: 'stop' } } })
    expect(done).toEqual(['second', 'first'])
    expect((await run.status()).rollback).toMatchObject({
      undone: ['first'],
      failed: [{ name: 'second', failure: { code: 'step-failed' } }],
    })
  })

  test('an undo is retried like a step, with its own key', async () => {
    const keys: string[] = []
    let attempts = 0
    const saga = procedure({ name: 'saga' }, async (ctx) => {
      const undo = ({ idempotencyKey }: StepCall) => {
        keys.push(idempotencyKey)
        attempts += 1
        if (attempts < 3) throw new Error('later')
      }
      await ctx.step('do', ({ idempotencyKey }) => void keys.push(idempotencyKey), {
        undo: (_, call) => undo(call),
      })
      throw new FinalError('stop')
    })
    await using engine = await testEngine({ procedures: [saga] })
    await expect((await engine.run(saga)).result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(keys).toHaveLength(4)
    expect(new Set(keys).size).toBe(2)
  })

  test('a bug parks the run before anything is undone, and nothing is undone once the code is fixed', async () => {
    const done: string[] = []
    const buggy = order(done, async () => {
      throw new TypeError('x is not a function')
    })
    const fixed = order(done, async () => {})
    const store = memory()
    const first = await createEngine({ store, procedures: [buggy] })
    const run = await first.run(buggy, undefined, { id: 'a' })
    await expect(run.result()).rejects.toMatchObject({ code: 'procedure-broken' })
    await first.stop()
    const second = await createEngine({ store, procedures: [fixed] })
    await second.get('a').result()
    expect(done).toEqual(['reserve'])
    await second.stop()
  })

  test("a bug rolls back with bugs: 'fail'", async () => {
    const done: string[] = []
    const failed = procedure({ name: 'failed', bugs: 'fail' }, async (ctx) => {
      ctx.onRollback('undo', () => done.push('undo'))
      await ctx.sleep('1s')
      throw new TypeError('x is not a function')
    })
    await using engine = await testEngine({ procedures: [failed] })
    await expect((await engine.run(failed)).result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(done).toEqual(['undo'])
  })

  test('a failed run undoes nothing if an exception escapes a callback, and says so', async () => {
    const done: string[] = []
    const leaking = order(done, (ctx) => {
      process.nextTick(() => {
        throw new Error('leaked')
      })
      return ctx.sleep('1h')
    })
    await using engine = await testEngine({ procedures: [leaking] })
    const run = await engine.run(leaking)
    await expect(run.result()).rejects.toMatchObject({ details: { cause: { message: 'leaked' } } })
    expect(done).toEqual(['reserve'])
    expect((await run.status()).rollback).toEqual({
      ...{ reason: 'Error: leaked', undone: [], failed: [] },
      skipped: '3 undos did not run (reserve, hold, tell the shop): an exception escaped the procedure',
    })
  })

  test('a failed run withdraws its open asks and aborts its running steps', async () => {
    const seen: string[] = []
    const saga = procedure({ name: 'saga', signals: { stop: z.void() } }, async (ctx) => {
      ctx.onRollback('undo', () => seen.push('undo'))
      await Promise.all([
        ctx.human.approve('Ship it?'),
        ctx.step('long', ({ signal }) => {
          signal.addEventListener('abort', () => seen.push('aborted'))
          return new Promise(() => {})
        }),
        ctx.receive('stop').then(() => {
          throw new FinalError('stop')
        }),
      ])
    })
    const engine = await createEngine({ store: memory(), procedures: [saga] })
    const run = await engine.run(saga)
    const ask = await engine.inbox.next({ run: run.id })
    await run.signal('stop')
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(seen.toSorted()).toEqual(['aborted', 'undo'])
    expect(await engine.inbox.get(ask.id)).toMatchObject({ status: 'withdrawn' })
    await engine.stop()
  })
})

describe("rollback: { onFailure: 'ask' }", () => {
  const asking = (done: string[], failures: number) => {
    let left = failures
    return procedure(
      { name: 'asking', owner: 'group:finance', rollback: { onFailure: 'ask' } },
      async (ctx) => {
        ctx.onRollback('first', () => done.push('first'))
        ctx.onRollback('second', () => {
          if (left-- > 0) throw new FinalError('the bank is closed')
          done.push('second')
        })
        throw new FinalError('stop')
      },
    )
  }

  test.each([
    { choice: 'again', done: ['second', 'first'], undone: ['second', 'first'], failed: [] },
    { choice: 'done by hand', done: ['first'], undone: ['second', 'first'], failed: [] },
    {
      ...{ choice: 'leave it', done: ['first'], undone: ['first'] },
      failed: [{ name: 'second', failure: { code: 'step-failed' } }],
    },
  ])('waits for the owner, who says $choice', async ({ choice, done, undone, failed }) => {
    for (const crash of [false, true]) {
      const seen: string[] = []
      const saga = asking(seen, 1)
      const owner = { ask: /undo of "second" has failed/, answer: { choice }, after: '2h', as: 'user:ana' }
      await using engine = await testEngine({ procedures: [saga], humans: [owner as never] })
      if (crash) await engine.crash('every')
      const run = await engine.run(saga)
      await expect(run.result()).rejects.toMatchObject({ details: { cause: { message: 'stop' } } })
      expect(seen).toEqual(done)
      expect((await run.status()).rollback).toMatchObject({ undone, failed, skipped: undefined })
    }
  })

  test('is refused without an owner', () => {
    const spec = { name: 'orphan', rollback: { onFailure: 'ask' } } as const
    expect(() => procedure(spec, async () => {})).toThrow(/owner/)
  })
})

test('asks that name no audience go to the owner of the procedure', async () => {
  const owned = procedure({ name: 'owned', owner: 'group:finance' }, async (ctx) => {
    await Promise.all([
      ctx.human.approve('Refund?'),
      ctx.human.input('How much?', z.number(), { to: 'user:ana' }),
    ])
  })
  const engine = await createEngine({ store: memory(), procedures: [owned] })
  const run = await engine.run(owned)
  await engine.inbox.next({ run: run.id })
  const { items } = await engine.inbox.list({ run: run.id })
  expect(Object.fromEntries(items.map(({ kind, to }) => [kind, to]))).toEqual({
    approve: ['group:finance'],
    input: ['user:ana'],
  })
  await engine.stop()
})

describe('a parent that is cancelled', () => {
  const done: string[] = []
  const hold = (name: string) => [name, () => {}, { undo: () => void done.push(`undo ${name}`) }] as const

  test('does not wait for the undos of a child that it calls', async () => {
    done.length = 0
    let release = (): void => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const kid = procedure({ name: 'kid' }, async (ctx) => {
      await ctx.step('kid', () => {}, { undo: () => released.then(() => done.push('undo kid')) })
      await ctx.sleep('1d')
    })
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      await ctx.step(...hold('parent'))
      await ctx.call(kid, undefined, { id: 'kid' })
    })
    await using engine = await testEngine({ procedures: [parent, kid] })
    const run = await engine.run(parent)
    await engine.advance('1h')
    await run.cancel()
    await refusalOf(run.result())
    expect(done).toEqual(['undo parent'])
    release()
    await refusalOf(engine.get('kid').result())
    expect(done).toEqual(['undo parent', 'undo kid'])
  })

  test('has run its undos before a child is cancelled that it has spawned', async () => {
    done.length = 0
    const kid = procedure({ name: 'kid' }, async (ctx) => {
      await ctx.step(...hold('kid'))
      await ctx.sleep('1d')
    })
    const parent = procedure({ name: 'parent' }, async (ctx) => {
      await ctx.step(...hold('parent'))
      await ctx.spawn(kid, undefined, { id: 'kid' })
      await ctx.sleep('1d')
    })
    await using engine = await testEngine({ procedures: [parent, kid] })
    const run = await engine.run(parent)
    await engine.advance('1h')
    await run.cancel()
    await refusalOf(engine.get('kid').result())
    expect(done).toEqual(['undo parent', 'undo kid'])
  })
})

describe('ctx.rollback', () => {
  test('ctx.rollback undoes everything registered so far; a later failure undoes only what came after', async () => {
    const done: string[] = []
    const deploy = procedure({ name: 'deploy' }, async (ctx) => {
      await ctx.step('old', () => done.push('old'), { undo: () => done.push('undo old') })
      await ctx.rollback('checks failed')
      await ctx.step('new', () => done.push('new'), { undo: () => done.push('undo new') })
      throw new FinalError('stop')
    })
    await using engine = await testEngine({ procedures: [deploy] })
    const run = await engine.run(deploy)
    await expect(run.result()).rejects.toMatchObject({ code: 'run-failed' })
    expect(done).toEqual(['old', 'undo old', 'new', 'undo new'])
    expect((await run.status()).rollback).toMatchObject({ reason: 'checks failed', undone: ['old', 'new'] })
  })

  test.each(['on-crash', 'always'] as const)(
    'ctx.rollback waits for a step at work, and undoes it too, replayed %s',
    async (replay) => {
      const done: string[] = []
      let finish = (): void => {}
      const finished = new Promise<void>((resolve) => {
        finish = resolve
      })
      const holding = procedure({ name: 'holding', signals: { go: z.void() } }, async (ctx) => {
        const slow = ctx.step('slow', () => finished, { undo: () => done.push('undo slow') })
        await ctx.step('quick', () => {}, { undo: () => done.push('undo quick') })
        await ctx.receive('go')
        await ctx.rollback('checks failed')
        done.push('rolled back')
        await slow
        await ctx.sleep('1h')
      })
      await using engine = await testEngine({ procedures: [holding], replay })
      const run = await engine.run(holding)
      await run.signal('go')
      const hasGone = async () => (await engine.log(run.id)).execution_log.some(({ name }) => name === 'go')
      while (!(await hasGone())) await new Promise((resolve) => setImmediate(resolve))
      for (let round = 0; round < 50; round++) await new Promise((resolve) => setImmediate(resolve))
      expect(done).toEqual([])
      finish()
      await run.result()
      expect(done.filter((one) => one.startsWith('undo'))).toEqual(['undo slow', 'undo quick'])
      expect(done.slice(0, 3)).toEqual(['undo slow', 'undo quick', 'rolled back'])
      expect((await run.status()).rollback).toMatchObject({ undone: ['slow', 'quick'] })
      expect(await engine.check({ run: run.id })).toMatchObject([{ verdict: 'same', versions: {} }])
    },
  )

  test('a run that returns completes, and undoes nothing by itself', async () => {
    const done: string[] = []
    const fine = order(done, async () => {})
    await using engine = await testEngine({ procedures: [fine] })
    await (await engine.run(fine)).result()
    expect(done).toEqual(['reserve'])
  })

  test.each([
    ['an undo that is not a function', (ctx: Ctx) => ctx.onRollback('a', 5 as never)],
    ['a name that is empty', (ctx: Ctx) => ctx.onRollback('', () => {})],
    ['a reason that is not text', (ctx: Ctx) => void ctx.rollback(5 as never)],
    ['a step whose undo is not a function', (ctx: Ctx) => void ctx.step('a', () => 1, { undo: 5 as never })],
  ])('refuses %s', async (_what, call) => {
    const misused = procedure({ name: 'misused', bugs: 'fail' }, async (ctx) => call(ctx))
    await using engine = await testEngine({ procedures: [misused] })
    await expect((await engine.run(misused)).result()).rejects.toMatchObject({
      details: { cause: { code: 'option-invalid' } },
    })
  })
})

describe('an undo that fails', () => {
  const charge = procedure(
    { name: 'charge', input: z.boolean(), signals: { go: z.void() } },
    async (ctx, fails) => {
      await ctx.step('hold', () => {}, { undo: () => Promise.reject(new FinalError('the bank says no')) })
      if (fails) await failing(ctx)
      await ctx.receive('go')
    },
  )

  test.each(['cancelled', 'failed', 'timed out'] as const)(
    'is an error of the log if its run is %s',
    async (how) => {
      const { logger, lines } = keepLines()
      await using engine = await testEngine({ procedures: [charge], logger })
      const timeout = how === 'timed out' ? ({ timeout: '1h' } as const) : {}
      const run = await engine.run(charge, how === 'failed', { id: 'pay:1', ...timeout })
      if (how === 'cancelled') await engine.advance('1s')
      if (how === 'cancelled') await run.cancel()
      await run.result().catch(() => {})
      const [line] = lines.filter(({ fields }) => (fields as { undo?: string } | undefined)?.undo === 'hold')
      expect(line).toMatchObject({
        level: 'error',
        fields: { run: 'pay:1', outcome: 'has a failed undo', code: 'step-failed', undo: 'hold' },
      })
      expect(line?.message).toContain('the bank says no')
    },
  )

  test('says that what it should have undone is still there, and nothing of catching its error', async () => {
    await using engine = await testEngine({ procedures: [charge] })
    const run = await engine.run(charge, true, { id: 'pay:1' })
    await run.result().catch(() => {})
    const message = (await run.status()).rollback?.failed[0]?.failure.message
    expect(message).toContain('It was an undo: what it should have undone is still there.')
    expect(message).not.toContain('Catch')
  })

  test('the error of a run that was rolled back advises a new run, and not a retry, which is refused', async () => {
    const { logger, lines } = keepLines()
    await using engine = await testEngine({ procedures: [charge], logger })
    const run = await engine.run(charge, true, { id: 'pay:1' })
    const refusal = await refusalOf(run.result())
    expect(refusal).toMatchObject({ code: 'run-failed', details: { rolledBack: true } })
    const line = lines.find(
      ({ fields }) => (fields as { outcome?: string } | undefined)?.outcome === 'failed',
    )
    for (const message of [refusal.message, line?.message]) {
      expect(message).toContain('start a run with a different id')
      expect(message).not.toContain('retry(')
    }
    expect((await refusalOf(engine.retry('pay:1'))).code).toBe('run-rolled-back')
  })
})

describe('completed children of a run that rolls back', () => {
  const book = procedure({ name: 'book' }, (ctx) => ctx.step('book', () => 'seat 12', { undo: () => {} }))
  const rent = procedure({ name: 'rent' }, (ctx) => ctx.step('rent', () => 'car 3'))
  const refused = procedure({ name: 'refused' }, (ctx) => failing(ctx))

  /** Runs a procedure that undoes a payment, twice. Returns the children that a warning names. */
  async function warned(trip: (ctx: Ctx) => Promise<unknown>): Promise<readonly unknown[]> {
    const { logger, lines } = keepLines()
    const body = procedure({ name: 'trip' }, async (ctx) => {
      await ctx.step('pay', () => 'paid', { undo: () => {} })
      await trip(ctx)
    })
    // Every replay delivers the results of the children again.
    await using engine = await testEngine({
      procedures: [body, book, rent, refused],
      logger,
      replay: 'always',
    })
    for (let i = 0; i < 2; i++) {
      const run = await engine.run(body)
      await run.result().catch(() => {})
      expect((await run.status()).rollback?.undone).toContain('pay')
    }
    return lines
      .filter(({ level, message }) => level === 'warn' && message.includes('stays done'))
      .map(({ fields }) => (fields as { child: string }).child)
  }

  test('a warning names each procedure once behind whose completion no undo was registered', async () => {
    const children = await warned(async (ctx) => {
      for (let i = 0; i < 2; i++) await ctx.call(book)
      await (await ctx.spawn(rent)).result()
      await ctx.call(refused).catch(() => {})
      await failing(ctx)
    })
    expect(children).toEqual(['book', 'rent'])
  })

  test('there is no warning of a child behind whose completion an undo was registered', async () => {
    const children = await warned(async (ctx) => {
      await ctx.call(book)
      ctx.onRollback('free the seat', () => {})
      await ctx.call(rent)
      await ctx.step('insure', () => {}, { undo: () => {} })
      await failing(ctx)
    })
    expect(children).toEqual([])
  })

  test('a rollback in the course of a run warns of the children that had completed by then', async () => {
    const inCourse = async (ctx: Ctx) => {
      await ctx.call(book)
      await ctx.rollback('the hotel is full')
      await ctx.call(rent)
    }
    expect(await warned(inCourse)).toEqual(['book'])
  })
})
