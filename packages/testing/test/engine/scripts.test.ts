import { procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'

const hour = 3_600_000
const dispose = async (engine: AsyncDisposable): Promise<void> => engine[Symbol.asyncDispose]()

test('asks of one moment are answered by urgency', async () => {
  const racing = procedure({ name: 'racing' }, (ctx) =>
    Promise.race([
      ctx.human.approve('Small?', { risk: 'low' }).then(() => 'small'),
      ctx.human.approve('Large?', { risk: 'critical' }).then(() => 'large'),
    ]),
  )
  await using engine = await testEngine({
    procedures: [racing],
    humans: [{ ask: /./, answer: { approved: true } }],
  })
  expect(await (await engine.run(racing)).result()).toBe('large')
})

describe('a person who does not keep to the script fails the test', () => {
  const racing = procedure({ name: 'racing' }, (ctx) =>
    Promise.race([ctx.human.select('A?', ['x']), ctx.human.select('B?', ['y'])]),
  )
  const wrong = {
    'an answer that throws': () => {
      throw new Error('expected something else')
    },
    'an invalid answer': () => ({ choice: 'z' }),
  }

  test.each(Object.entries(wrong))(
    'a person without a script fails the test even if the run does not wait: %s',
    async (_, answer) => {
      const engine = await testEngine({
        procedures: [racing],
        humans: [
          { ask: 'A', answer: { choice: 'x' } },
          { ask: 'B', answer },
        ],
      })
      const run = await engine.run(racing)
      const reported: unknown[] = []
      const note = (error: unknown): void => void reported.push(error)
      await run.result().catch(note)
      await dispose(engine).catch(note)
      expect(reported).toHaveLength(1)
    },
  )

  test('a person without a script fails the test even without a waiting caller', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.select('A?', ['x']))
    const engine = await testEngine({
      procedures: [asking],
      humans: [{ ask: 'A', answer: { choice: 'z' } }],
    })
    await engine.run(asking)
    await expect(engine.advance('1s').then(() => engine.stop())).rejects.toMatchObject({
      code: 'answer-invalid',
    })
    await dispose(engine).catch(() => {})
  })
})

test('time advances to the overdue time of an ask, for the recipients of its escalation', async () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    const { by } = await ctx.human.approve('x?', { timeout: '1h', onTimeout: { escalateTo: 'role:boss' } })
    return { by, at: ctx.now().getTime() }
  })
  await using engine = await testEngine({
    procedures: [asking],
    humans: [{ ask: 'x', answer: 'silence' }],
  })
  const run = await engine.run(asking)
  const ask = await engine.inbox.next({ to: 'role:boss' })
  expect(ask.overdue).toBe(true)
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:boss' })
  expect(await run.result()).toEqual({ by: 'user:boss', at: Date.UTC(2026, 0, 1) + hour })
})

test('a stopped engine does not start again by a crash', async () => {
  const stepping = procedure({ name: 'stepping' }, (ctx) => ctx.step('s', () => 1))
  const store = memory()
  await using first = await testEngine({ store, procedures: [stepping] })
  await first.stop()
  await expect(first.crash()).rejects.toMatchObject({ code: 'engine-stopped' })
  await expect(first.advance('1d')).rejects.toMatchObject({ code: 'engine-stopped' })
  await using second = await testEngine({ store, procedures: [stepping] })
  await (await second.run(stepping)).result()
  expect([first.calls, second.calls]).toEqual([{}, { s: 1 }])
  await expect(second.crash('all' as 'every')).rejects.toMatchObject({ code: 'option-invalid' })
})

test('a person who reads the ask sees its present state', async () => {
  const asking = procedure({ name: 'asking' }, (ctx) =>
    ctx.human.approve('Now?', { timeout: '1h', onTimeout: 'escalate' }),
  )
  await using engine = await testEngine({
    procedures: [asking],
    humans: [{ ask: 'Now', answer: (ask) => ({ approved: ask.overdue }), after: '2h' }],
  })
  expect(await (await engine.run(asking)).result()).toMatchObject({ approved: true })
})

test('a script that throws fails every wait', async () => {
  const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?', { timeout: '1h' }))
  await using engine = await testEngine({
    procedures: [asking],
    humans: [
      {
        ask: () => {
          throw new TypeError('wrong script')
        },
        answer: 'silence',
      },
    ],
  })
  const run = await engine.run(asking)
  for (const wait of [() => engine.advance('1m'), () => engine.advance('1m'), () => run.result()])
    await expect(wait()).rejects.toThrow('wrong script')
})

test('people answer what their own engine can execute, also asks of other engines', async () => {
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    await ctx.sleep('1m')
    return ctx.human.approve('Now?', { timeout: '1h' })
  })
  const other = procedure({ name: 'other' }, async () => 1)
  const bob = { ask: 'Now', answer: { approved: true }, as: 'user:bob', after: '10m' } as const
  const store = memory()
  const first = await testEngine({ store, procedures: [asking], humans: [{ ask: 'Now', answer: 'silence' }] })
  await using beside = await testEngine({ store, procedures: [other] })
  await using second = await testEngine({ store, procedures: [asking, other], humans: [bob] })
  await (await second.run(other)).result()
  const run = await first.run(asking)
  await beside.advance('2m')
  await first.stop()
  expect(await second.get(asking, run.id).result()).toMatchObject({ approved: true, by: 'user:bob' })
})

test('a run that no worker can execute does not block others', async () => {
  const old = procedure({ name: 'old' }, (ctx) => ctx.sleep('1h'))
  const nap = procedure({ name: 'nap' }, async (ctx) => {
    await ctx.sleep('2h')
    await ctx.sleep('2h')
    return ctx.now()
  })
  const store = memory()
  const before = await testEngine({ store, procedures: [old] })
  await before.run(old)
  await before.advance('1m')
  await before.stop()
  await using after = await testEngine({ store, procedures: [nap] })
  expect(await (await after.run(nap)).result()).toEqual(new Date(Date.UTC(2026, 0, 1) + 4 * hour + 60_000))
})

test('time stops while a body computes', async () => {
  const computing = procedure({ name: 'computing' }, (ctx) =>
    ctx.step(
      'compute',
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
        await new Promise((resolve) => setTimeout(resolve, 5))
        return 'done'
      },
      { timeout: '10m', retry: false },
    ),
  )
  await using engine = await testEngine({ procedures: [computing] })
  expect(await (await engine.run(computing)).result()).toBe('done')
})

test('virtual time may begin before 1970', async () => {
  const now = new Date('1969-07-20T20:17:40Z')
  const looking = procedure({ name: 'looking' }, async (ctx) => ctx.now())
  await using engine = await testEngine({ procedures: [looking], now })
  expect(await (await engine.run(looking)).result()).toEqual(now)
})

test('a body that waits for virtual time is waited for once, not at every timer', async () => {
  const child = procedure({ name: 'child' }, async (ctx) => {
    for (let i = 0; i < 20; i++) await ctx.sleep('1h')
    return 'grown up'
  })
  const parent = procedure({ name: 'parent' }, (ctx) =>
    ctx.step('raise', async () => (await engine.run(child)).result()),
  )
  await using engine = await testEngine({ procedures: [parent, child] })
  expect(await (await engine.run(parent)).result({ timeout: '2d' })).toBe('grown up')
})
