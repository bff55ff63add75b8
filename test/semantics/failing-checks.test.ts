import { procedure, ref } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { refusalOf } from './support.ts'

const stray = 'A schema check left a promise that rejected: Error: the database is down'

/** As a look-up in a database would while that is down. */
const down = z.string().refine(async () => {
  throw new Error('the database is down')
})
const fine = z.string()

const guarded = procedure({ name: 'guarded', input: down }, async (_, given) => given)
const returning = procedure({ name: 'returning', output: down }, async () => 'x')
const reported = procedure({ name: 'told', signals: { news: down, end: fine } }, (ctx) =>
  ctx.receiveAny(['news', 'end']),
)
const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.input('What?', down))

// zod leaves a promise to nobody for each: what was rejected there would end a worker, and fail these tests.
describe('a check of a schema that fails for a moment', () => {
  const warn = vi.spyOn(console, 'warn')
  beforeEach(() => {
    warn.mockReset().mockImplementation(() => {})
  })
  /** While the engine is there to catch it. */
  const isReported = () => expect.poll(() => warn.mock.calls.flat().join()).toContain(stray)

  test('a schema check that fails for a moment refuses an input, at the start and at the claim', async () => {
    await using engine = await testEngine({ procedures: [guarded] })
    expect(await refusalOf(engine.run(guarded, 'x'))).toMatchObject({ code: 'input-invalid' })
    const run = await engine.run(ref<typeof guarded>('guarded'), 'x')
    expect(await refusalOf(run.result())).toMatchObject({
      code: 'run-failed',
      message: expect.stringContaining('the database is down'),
    })
    await isReported()
  })

  test('a schema check that fails for a moment refuses an output', async () => {
    await using engine = await testEngine({ procedures: [returning] })
    expect(await refusalOf((await engine.run(returning)).result())).toMatchObject({ code: 'run-failed' })
    await isReported()
  })

  test('a schema check that fails for a moment refuses a signal or discards it', async () => {
    await using engine = await testEngine({ procedures: [reported] })
    const run = await engine.run(reported)
    expect(await refusalOf(run.signal('news', 'x'))).toMatchObject({ code: 'payload-invalid' })
    await engine.get(ref<typeof reported>('told'), run.id).signal('news', 'x')
    await run.signal('end', 'y')
    expect(await run.result()).toEqual({ name: 'end', payload: 'y' })
    await isReported()
  })

  test('a schema check that fails for a moment refuses an answer', async () => {
    await using engine = await testEngine({ procedures: [asking] })
    const run = await engine.run(asking)
    const ask = await engine.inbox.next({ run: run.id })
    const refusal = await refusalOf(engine.inbox.answer(ask.id, { value: 'x' }, { as: 'user:ana' }))
    expect(refusal).toMatchObject({ code: 'answer-invalid' })
    await isReported()
  })
})
