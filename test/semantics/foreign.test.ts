import { procedure } from '@pawl/core'
import { testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { keepLines, refusalOf } from './support.ts'

describe('foreign awaits', () => {
  test('a procedure that awaits a timer is stuck as foreign-await, and the error names the operation before it', async () => {
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

  test('a parked run that is resumed from outside logs a warning and writes nothing', async () => {
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
    await expect.poll(() => lines.length).toBeGreaterThan(0)
    expect(lines).toMatchObject([
      {
        level: 'warn',
        message: expect.stringMatching(
          /was resumed by something outside ctx while parked \(after sleep: step "after" was issued outside any turn\)/,
        ),
      },
    ])
    // Nothing was written of what it did outside its turns.
    expect((await engine.log(run.id)).execution_log).toMatchObject([{ name: 'sleep', status: 'open' }])
    expect(engine.calls).toEqual({})
  })
})
