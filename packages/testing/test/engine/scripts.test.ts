import { procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'

const hour = 3_600_000
const dispose = async (engine: AsyncDisposable): Promise<void> => engine[Symbol.asyncDispose]()

describe('a person who does not keep to the script fails the test', () => {
  const racing = procedure({ name: 'racing' }, (ctx) =>
    Promise.race([ctx.human.select('A?', ['x']), ctx.human.select('B?', ['y'])]),
  )
  const wrong = {
    'an answer that throws': () => {
      throw new Error('expected something else')
    },
    'an answer that does not fit': () => ({ choice: 'z' }),
  }

  test.each(Object.entries(wrong))('also where the run does not wait for it: %s', async (_, answer) => {
    const engine = await testEngine({
      procedures: [racing],
      humans: [
        { ask: 'A', answer: { choice: 'x' } },
        { ask: 'B', answer },
      ],
    })
    const run = await engine.run(racing)
    const told: unknown[] = []
    const note = (error: unknown): void => void told.push(error)
    await run.result().catch(note)
    await dispose(engine).catch(note)
    expect(told).toHaveLength(1)
  })

  test('also where nobody waits any more', async () => {
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

test('time goes on to when a question is overdue, for whoever it is shown to then', async () => {
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

test('an engine that was stopped does not come back by a crash', async () => {
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
