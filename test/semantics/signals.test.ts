import { procedure, type RunHandle, ref, type Schema } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hour, keepLines, refusalOf, start } from './support.ts'

const signals = {
  paid: z.object({ cents: z.number() }),
  add: z.string(),
  ping: z.void(),
  maybe: z.string().nullable(),
}

const order = procedure({ name: 'order', signals }, async (ctx) => {
  const paid = await ctx.receive('paid', { timeout: '3d' })
  return paid === null ? 'lapsed' : paid.cents
})

/** Takes what is added, one after the other, until it is pinged. */
const cart = procedure({ name: 'cart', signals }, async (ctx) => {
  const added: string[] = []
  for (;;) {
    const next = await ctx.receiveAny(['add', 'ping'])
    if (next.name === 'ping') return added
    added.push(next.payload)
  }
})

describe('receive', () => {
  test('receive returns a signal sent while it waits', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    await engine.advance('1h')
    expect(await run.status()).toMatchObject({
      status: 'waiting',
      waitingFor: [{ kind: 'signal', name: 'paid', position: 0, until: new Date(start + 72 * hour) }],
    })
    await run.signal('paid', { cents: 4500 })
    expect(await run.result()).toBe(4500)
  })

  test('receive returns a signal sent before the call', async () => {
    const late = procedure({ name: 'late', signals }, async (ctx) => {
      await ctx.sleep('1h')
      return ctx.receive('add')
    })
    await using engine = await testEngine({ procedures: [late] })
    const run = await engine.run(late)
    await run.signal('add', 'early bird')
    expect(await run.result()).toBe('early bird')
  })

  test('receive returns null after its timeout, at its time, and is recorded as timed out', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    expect(await run.result()).toBe('lapsed')
    expect(await engine.log(run.id)).toMatchObject({
      execution_log: [
        {
          type: 'signal',
          name: 'paid',
          status: 'done',
          result: { timed_out: true },
          timestamp: '2026-01-04T00:00:00.000Z',
        },
      ],
      replay_index: 1,
    })
  })

  test('a signal without a payload is received as true, and null stays a value', async () => {
    const bare = procedure({ name: 'bare', signals }, async (ctx) => [
      await ctx.receive('ping'),
      await ctx.receive('maybe'),
    ])
    await using engine = await testEngine({ procedures: [bare] })
    const run = await engine.run(bare)
    await run.signal('ping')
    await run.signal('maybe', null)
    expect(await run.result()).toEqual([true, null])
  })

  test('receive is logged with name, payload and time', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    await engine.advance('2h')
    await run.signal('paid', { cents: 1 })
    await run.result()
    expect((await engine.log(run.id)).execution_log).toEqual([
      {
        position: 0,
        type: 'signal',
        name: 'paid',
        status: 'done',
        result: { name: 'paid', payload: { cents: 1 }, timed_out: false },
        timestamp: '2026-01-01T02:00:00.000Z',
        duration_ms: 2 * hour,
      },
    ])
  })

  test('a signal in the same millisecond as the timeout wins if it was first', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    await engine.advance('71h')
    await engine.crash()
    // Nobody has looked yet when both are there.
    const [, result] = await Promise.all([
      run.signal('paid', { cents: 7 }),
      engine.advance('1h').then(() => run.result()),
    ])
    expect(result).toBe(7)
  })
})

describe('several signals', () => {
  test('several signals arrive in the order they were sent, whatever their names', async () => {
    await using engine = await testEngine({ procedures: [cart] })
    const run = await engine.run(cart)
    for (const item of ['a', 'b', 'c']) await run.signal('add', item)
    await run.signal('ping')
    expect(await run.result()).toEqual(['a', 'b', 'c'])
  })

  test('signals sent at once arrive in order, with a crash after every write', async () => {
    await using engine = await testEngine({ procedures: [cart] })
    await engine.crash('every')
    const run = await engine.run(cart)
    await Promise.all(Array.from({ length: 30 }, (_, index) => run.signal('add', `${index}`)))
    await run.signal('ping')
    expect(await run.result()).toEqual(Array.from({ length: 30 }, (_, index) => `${index}`))
  })

  test('signals with the same id arrive once', async () => {
    await using engine = await testEngine({ procedures: [cart] })
    const run = await engine.run(cart)
    await Promise.all(Array.from({ length: 20 }, () => run.signal('add', 'once', { id: 'event-1' })))
    await engine.advance('1s')
    await run.signal('add', 'again', { id: 'event-1' })
    await run.signal('add', 'other', { id: 'event-2' })
    await run.signal('ping')
    expect(await run.result()).toEqual(['once', 'other'])
  })

  test('a payload that looks like options is a payload', async () => {
    const cancelling = procedure(
      {
        name: 'cancelling',
        signals: { cancel: z.object({ id: z.string() }).optional(), stop: z.void(), anything: z.any() },
      },
      async (ctx) => [await ctx.receive('cancel'), await ctx.receive('stop'), await ctx.receive('anything')],
    )
    await using engine = await testEngine({ procedures: [cancelling] })
    const run = await engine.run(cancelling)
    await run.signal('cancel', { id: 'reason-7' })
    // From JavaScript: `stop` has no payload, so this can only be its options.
    for (let i = 0; i < 2; i++) await run.signal('stop', { id: 'once' } as never)
    await run.signal('anything', { id: 'a' })
    expect(await run.result()).toEqual([{ id: 'reason-7' }, true, { id: 'a' }])
    expect((await run.status()).leftOver.signals).toEqual([])
  })

  test('signals go to the receives in the order of their calls', async () => {
    const pair = procedure({ name: 'pair', signals }, (ctx) =>
      Promise.all([ctx.receive('add'), ctx.receive('add'), ctx.receive('paid')]),
    )
    await using engine = await testEngine({ procedures: [pair] })
    const run = await engine.run(pair)
    await run.signal('paid', { cents: 3 })
    await run.signal('add', 'first')
    await run.signal('add', 'second')
    expect(await run.result()).toEqual(['first', 'second', { cents: 3 }])
  })

  test('stored signals settle a race in the order they were sent', async () => {
    const race = procedure({ name: 'race', signals }, async (ctx) => {
      await ctx.sleep('1h')
      return Promise.race([
        ctx.receive('add').then((item) => `add ${item}`),
        ctx.receive('paid').then(({ cents }) => `paid ${cents}`),
      ])
    })
    await using engine = await testEngine({ procedures: [race] })
    const run = await engine.run(race)
    await run.signal('paid', { cents: 1 })
    await run.signal('add', 'x')
    expect(await run.result()).toBe('paid 1')
  })

  test('unread signals are listed on the ended run', async () => {
    const deaf = procedure({ name: 'deaf', signals }, (ctx) => ctx.sleep('1h'))
    await using engine = await testEngine({ procedures: [deaf] })
    const run = await engine.run(deaf)
    await run.signal('add', 'x')
    await run.signal('ping')
    await run.result()
    expect((await run.status()).leftOver.signals).toEqual(['add', 'ping'])
  })

  test('2,000 signals to one run delay no other run', async () => {
    await using engine = await testEngine({ procedures: [cart, order] })
    const flooded = await engine.run(cart)
    const other = await engine.run(order)
    await Promise.all(Array.from({ length: 2_000 }, (_, index) => flooded.signal('add', `${index}`)))
    await other.signal('paid', { cents: 1 })
    expect(await other.result()).toBe(1)
    await flooded.signal('ping')
    expect(await flooded.result()).toHaveLength(2_000)
  })
})

describe('a signal is refused', () => {
  test('a signal with an invalid payload is refused', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    const refusal = await refusalOf(run.signal('paid', { cents: 'many' as unknown as number }))
    expect(refusal).toMatchObject({ code: 'payload-invalid', details: { issues: [{ path: 'cents' }] } })
    expect(await run.result()).toBe('lapsed')
  })

  test('a signal that the procedure does not declare is refused', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = (await engine.run(order)) as unknown as RunHandle<unknown, { signals: { other: string } }>
    expect(await refusalOf(run.signal('other', 'x'))).toMatchObject({ code: 'option-invalid' })
  })

  test('a signal to a run that has ended or does not exist is refused', async () => {
    await using engine = await testEngine({ procedures: [order] })
    const run = await engine.run(order)
    await run.result()
    expect(await refusalOf(run.signal('paid', { cents: 1 }))).toMatchObject({
      code: 'run-ended',
      details: { run: run.id, status: 'completed' },
    })
    expect(await refusalOf(engine.get(order, 'nobody').signal('paid', { cents: 1 }))).toMatchObject({
      code: 'run-not-found',
      details: { run: 'nobody' },
    })
  })
})

test('an invalid signal sent without the schema is discarded by the worker with a log line', async () => {
  const { logger, lines } = keepLines()
  await using engine = await testEngine({ procedures: [order], logger })
  const run = await engine.run(order)
  const untyped = engine.get(ref<typeof order>('order'), run.id)
  await untyped.signal('paid', { cents: 'many' as unknown as number })
  await engine.advance('1h')
  expect((await run.status()).status).toBe('waiting')
  expect(lines).toContainEqual(
    expect.objectContaining({ level: 'warn', message: expect.stringContaining('"paid"') }),
  )
  await untyped.signal('paid', { cents: 5 })
  expect(await run.result()).toBe(5)
})

test('receives with an asynchronous schema get their signals in order', async () => {
  const slow = z.string().refine(async (text) => (await Promise.resolve(text)) !== 'bad')
  const patient = procedure({ name: 'patient', signals: { say: slow } }, async (ctx) => [
    await ctx.receive('say'),
    await ctx.receive('say'),
    await ctx.receive('say', { timeout: '1h' }),
  ])
  await using engine = await testEngine({ procedures: [patient] })
  const run = await engine.run(patient)
  const untyped = engine.get(ref<typeof patient>('patient'), run.id)
  for (const word of ['a', 'bad', 'b']) await untyped.signal('say', word)
  expect(await run.result()).toEqual(['a', 'b', null])
})

/** A library without a JSON Schema part: nobody can tell that it transforms. */
const day: Schema<string, Date> = {
  '~standard': {
    version: 1,
    vendor: 'odd',
    validate: (given: unknown) =>
      typeof given === 'string' ? { value: new Date(given) } : { issues: [{ message: 'Expected a string' }] },
  },
}

test('a signal is received as parsed by its schema, even if the schema would refuse the parsed value', async () => {
  const dated = procedure({ name: 'dated', signals: { on: day } }, (ctx) => ctx.receive('on'))
  await using engine = await testEngine({ procedures: [dated] })
  const run = await engine.run(dated)
  await run.signal('on', '2026-01-01' as unknown as Date)
  expect(await run.result()).toEqual(new Date('2026-01-01'))
})

test('a signal that is not plain data is sent as parsed by its schema', async () => {
  class Payment {
    readonly cents = 5
    readonly pay = () => {}
  }
  await using engine = await testEngine({ procedures: [order] })
  const run = await engine.run(order)
  await run.signal('paid', new Payment())
  expect(await run.result()).toBe(5)
})

test('a signal contains what its schema adds when it is sent, and nothing that its schema removes', async () => {
  const noted = procedure(
    { name: 'noted', signals: { note: z.object({ at: z.date().default(() => new Date()) }) } },
    async (ctx) => {
      await ctx.sleep('1d')
      return ctx.receive('note')
    },
  )
  await using engine = await testEngine({ procedures: [noted] })
  const run = await engine.run(noted)
  const before = Date.now()
  await run.signal('note', { card: '4111' } as never)
  const after = Date.now()
  const { at, ...rest } = await run.result()
  expect(rest).toEqual({})
  expect(at.getTime()).toBeGreaterThanOrEqual(before)
  expect(at.getTime()).toBeLessThanOrEqual(after)
})

/** What it makes it does not take again. */
const address: Schema<URL, string> = {
  '~standard': {
    version: 1,
    vendor: 'odd',
    validate: (given: unknown) =>
      given instanceof URL ? { value: given.href } : { issues: [{ message: 'Expected a URL' }] },
  },
}

test('a signal that can be recorded neither as given nor as parsed is refused', async () => {
  const calling = procedure({ name: 'calling', signals: { to: address } }, (ctx) => ctx.receive('to'))
  await using engine = await testEngine({ procedures: [calling] })
  const run = await engine.run(calling)
  expect(await refusalOf(run.signal('to', new URL('https://example.org') as never))).toMatchObject({
    code: 'payload-refused',
  })
})

test('a signal with an optional payload arrives as true without one', async () => {
  const note = z.string().optional()
  const noting = procedure({ name: 'noting', signals: { note } }, async (ctx) => {
    const received: (string | true)[] = [await ctx.receive('note'), await ctx.receive('note')]
    return received
  })
  await using engine = await testEngine({ procedures: [noting] })
  const run = await engine.run(noting)
  await run.signal('note', undefined)
  await run.signal('note', 'late')
  expect(await run.result()).toEqual([true, 'late'])
})
