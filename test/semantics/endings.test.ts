import { type Ctx, procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { fail, keepLines, refusalOf } from './support.ts'

describe('a run that ends', () => {
  test('a run that ends with steps never begun logs that an await may be missing', async () => {
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
      `Run "${run.id}" has ended without step "mail ana", step "mail bob": issued in its last turn, never started. Add the missing await`,
    ])
    expect((await run.status()).leftOver.operations.map(({ name }) => name)).toEqual(['mail ana', 'mail bob'])
  })

  test('a step issued between two results of one commit is logged if the run ends without it', async () => {
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

  test('the loser of a race and operations cut short by a failure are left behind without a warning', async () => {
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

  test('a ctx used after its run has ended does nothing and logs a warning', async () => {
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
      `Run "${run.id}": its ctx was used after the end: step "late" was issued. This has no effect`,
    ])
    expect(engine.calls).toEqual({})
  })
})

describe('a procedure that throws', () => {
  test('an error thrown by a procedure fails its run with name, message and code', async () => {
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
      stack: expect.stringContaining('endings.test.ts'),
    })
  })

  test('an error thrown in a callback fails the run, and the process lives', async () => {
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

  test('an error thrown before the first operation fails the run', async () => {
    const sync = procedure({ name: 'sync' }, () => fail('at once'))
    await using engine = await testEngine({ procedures: [sync] })
    expect(await refusalOf((await engine.run(sync)).result())).toMatchObject({
      details: { cause: { message: 'at once' } },
    })
  })

  test('an unhandled rejection is logged and does not change how the run ends', async () => {
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
  test('the status of an ended run lists the operations that were not awaited', async () => {
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
