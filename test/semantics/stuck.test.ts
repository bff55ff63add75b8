import { procedure, type RunOptions } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { keepLines, refusalOf, silent } from './support.ts'

describe('changed code', () => {
  const before = procedure({ name: 'p' }, async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('two', () => 2)
    await ctx.sleep('1h')
    return 'done'
  })
  const after = procedure({ name: 'p' }, async (ctx) => {
    await ctx.step('one', () => 1)
    await ctx.step('zwei', () => 2)
    await ctx.sleep('1h')
    return 'done'
  })

  /** A run of `before` that sleeps, and whose engine has gone. */
  const leaveSleeping = async (options?: RunOptions) => {
    const store = memory()
    const one = await testEngine({ procedures: [before], store })
    const run = await one.run(before, undefined, options)
    await one.advance('10m')
    await one.stop()
    return { store, run }
  }

  test('changed code is found before it writes, and the run resumes once the code is restored', async () => {
    const store = memory()
    const { logger, lines } = keepLines()
    const one = await testEngine({ procedures: [before], store })
    const run = await one.run(before)
    await one.advance('10m')
    const log = await one.log(run.id)
    await one.stop()

    const two = await testEngine({ procedures: [after], store, logger })
    const error = await refusalOf(two.get(after, run.id).result())
    expect(error).toMatchObject({
      code: 'nondeterminism',
      details: {
        position: 1,
        recorded: expect.stringContaining('two'),
        asked: expect.stringContaining('zwei'),
      },
    })
    expect((error.details as { readonly at: string }).at).toContain('stuck.test.ts')
    const stuck = await two.get(run.id).status()
    expect(stuck).toMatchObject({
      status: 'stuck',
      stuck: {
        code: 'nondeterminism',
        position: 1,
        recorded: expect.stringContaining('two'),
        asked: expect.stringContaining('zwei'),
        at: expect.stringMatching(/stuck\.test\.ts:\d+:\d+/),
      },
    })
    expect(stuck.stuck?.triedAt?.getTime()).toBeGreaterThanOrEqual(stuck.startedAt.getTime() + 10 * 60_000)
    expect((await two.list({ status: 'stuck' })).items).toHaveLength(1)
    expect(await two.log(run.id)).toEqual(log)
    expect(two.calls).toEqual({})
    expect(lines).toContainEqual(
      expect.objectContaining({ level: 'error', message: expect.stringContaining('stuck') }),
    )
    await two.stop()

    await using three = await testEngine({ procedures: [before], store })
    expect(await three.get(before, run.id).result()).toBe('done')
    expect(three.calls).toEqual({})
  })

  test('a run stuck in one worker is retried by another that has the right code', async () => {
    const asking = (name: string) =>
      procedure({ name: 'p', signals: { go: z.string() } }, async (ctx) => {
        await ctx.step(name, () => 1)
        return ctx.receive('go')
      })
    const store = memory()
    await using right = await testEngine({ procedures: [asking('a')], store })
    const run = await right.run(asking('a'))
    await right.advance('1m')
    const wrong = await testEngine({ procedures: [asking('b')], store, logger: keepLines().logger })
    await wrong.get(asking('b'), run.id).signal('go', 'on')
    expect(await refusalOf(right.get(run.id).result())).toMatchObject({ code: 'nondeterminism' })
    await wrong.stop()
    expect((await run.status()).status).toBe('stuck')
    await right.advance('10m')
    expect(await run.result()).toBe('on')
  })

  test('code that throws where the log continues is reported with its error and call site', async () => {
    const broken = procedure({ name: 'p' }, async () => {
      throw Object.assign(new Error('no order'), { code: 'no-order' })
    })
    const { store, run } = await leaveSleeping()
    await using two = await testEngine({ procedures: [broken], store, logger: keepLines().logger })
    expect(await refusalOf(two.get(run.id).result())).toMatchObject({
      code: 'nondeterminism',
      details: {
        recorded: expect.stringContaining('step "one"'),
        asked: 'its failure with Error: no order',
        at: expect.stringContaining('stuck.test.ts'),
      },
      cause: { code: 'no-order' },
    })
  })

  test('code that throws an unreadable error leaves its run stuck like any other', async () => {
    const broken = procedure({ name: 'p' }, async () => {
      throw Object.defineProperty(new Error('x'), 'stack', {
        get() {
          throw new Error('unreadable')
        },
      })
    })
    const { store, run } = await leaveSleeping()
    await using two = await testEngine({ procedures: [broken], store, logger: keepLines().logger })
    expect(await refusalOf(two.get(run.id).result())).toMatchObject({
      code: 'nondeterminism',
      details: { at: '' },
    })
  })

  test('a stuck run whose timeout passes is cancelled at that time, without its code', async () => {
    const { store, run } = await leaveSleeping({ timeout: '90d' })
    await using two = await testEngine({ procedures: [after], store, logger: keepLines().logger })
    await two.advance('89d')
    expect(await two.get(run.id).status()).toMatchObject({ status: 'stuck' })
    await two.advance('2d')
    const { status, startedAt, cancelRequestedAt, cancelReason } = await two.get(run.id).status()
    expect({ status, cancelReason }).toEqual({ status: 'cancelled', cancelReason: 'timed out' })
    const afterMs = Number(cancelRequestedAt) - Number(startedAt)
    expect(afterMs).toBeGreaterThanOrEqual(90 * 86_400_000)
    expect(afterMs).toBeLessThan(90 * 86_400_000 + 60_000)
  })

  test('a stuck run keeps its messages and answers', async () => {
    const asking = (name: string) =>
      procedure({ name: 'p', signals: { go: z.string() } }, async (ctx) => {
        await ctx.step(name, () => 1)
        const [approval, go] = await Promise.all([ctx.human.approve('Now?'), ctx.receive('go')])
        return [approval.approved, go]
      })
    const store = memory()
    const one = await testEngine({ procedures: [asking('a')], store, humans: silent })
    const run = await one.run(asking('a'))
    await one.advance('10m')
    await one.stop()
    const two = await testEngine({ procedures: [asking('b')], store, humans: silent })
    await refusalOf(two.get(run.id).result())
    await two.inbox.answer(`${run.id}/1`, { approved: true }, { as: 'user:ana' })
    await two.get(asking('b'), run.id).signal('go', 'on')
    await two.advance('1h')
    expect((await two.get(run.id).status()).status).toBe('stuck')
    await two.stop()
    await using three = await testEngine({ procedures: [asking('a')], store })
    expect(await three.get(run.id).result()).toEqual([true, 'on'])
  })

  test('an open ask stays as it was asked when its code changes', async () => {
    const asking = (message: string, amount: number, choices: readonly string[]) =>
      procedure({ name: 'p' }, async (ctx) => {
        const approval = await ctx.human.approve(message, {
          params: { amount },
          editable: ['amount'],
          timeout: '1h',
        } as never)
        return [approval, await ctx.human.select('Which?', choices)]
      })
    const store = memory()
    const one = await testEngine({ procedures: [asking('Pay {amount}?', 5, ['a'])], store, humans: silent })
    const run = await one.run(asking('Pay {amount}?', 5, ['a']))
    await one.advance('10m')
    const ask = await one.inbox.next()
    await one.stop()
    await using two = await testEngine({
      procedures: [asking('Really pay {amount}?', 9, ['b'])],
      store,
      humans: [
        ...silent.slice(1),
        { ask: 'Which', answer: { choice: 'b' } },
        { ask: 'Pay', answer: 'silence' },
      ],
    })
    await two.advance('10m')
    expect(await two.inbox.next()).toEqual(ask)
    await two.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    expect(await two.get(run.id).result()).toMatchObject([{ approved: true, params: { amount: 5 } }, 'b'])
  })

  test('an added await or log line is not a change', async () => {
    const edited = procedure({ name: 'p' }, async (ctx) => {
      ctx.log.info('new line')
      await null
      await ctx.step('one', () => 1)
      await Promise.resolve()
      await ctx.step('two', () => 2)
      await ctx.sleep('1h')
      return 'edited'
    })
    const { store, run } = await leaveSleeping()
    await using two = await testEngine({ procedures: [edited], store })
    expect(await two.get(run.id).result()).toBe('edited')
  })
})
