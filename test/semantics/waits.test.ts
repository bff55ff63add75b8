import { createEngine, procedure } from '@pawl/core'
import { memory, testEngine } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { meddleWith } from '../support/meddling-store.ts'
import { greet, hour, refusalOf, silent, start } from './support.ts'

describe('status', () => {
  const stages = procedure({ name: 'stages', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    await Promise.all([ctx.sleep('1h'), ctx.human.approve('Now?', { timeout: '2h' })])
  })

  test('the status shows what the run waits for', async () => {
    await using engine = await testEngine({ procedures: [stages], humans: silent })
    const run = await engine.run(stages, undefined, { id: 's', by: 'user:ana', tags: ['a', 'b', 'a'] })
    await engine.advance('1m')
    expect(await run.status()).toEqual({
      id: 's',
      procedure: 'stages',
      version: 1,
      status: 'waiting',
      generation: 1,
      forkedFrom: undefined,
      startedAt: new Date(start),
      endedAt: undefined,
      waitingFor: [{ kind: 'signal', name: 'go', position: 0, ask: undefined, until: undefined }],
      failure: undefined,
      tags: ['a', 'b'],
      startedBy: 'user:ana',
      leftOver: { signals: [], operations: [] },
    })
    await run.signal('go')
    await engine.advance('1m')
    expect((await run.status()).waitingFor).toEqual([
      { kind: 'timer', name: 'sleep', position: 1, ask: undefined, until: new Date(start + 61 * 60_000) },
      {
        kind: 'ask',
        name: 'approve',
        position: 2,
        ask: expect.stringMatching(/^[0-9a-f]{16}$/),
        until: new Date(start + 121 * 60_000),
      },
    ])
    await run.result()
    expect(await run.status()).toMatchObject({
      status: 'completed',
      endedAt: new Date(start + 121 * 60_000),
      waitingFor: [],
    })
  })

  test('the status is running while a step is at work', async () => {
    let end = (): void => {}
    const working = procedure({ name: 'working' }, (ctx) =>
      ctx.step('work', () => new Promise<void>((resolve) => (end = resolve))),
    )
    await using engine = await testEngine({ procedures: [working] })
    const run = await engine.run(working)
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
    while (engine.calls['work'] === undefined) await new Promise((resolve) => setImmediate(resolve))
    expect(await run.status()).toMatchObject({ status: 'running', waitingFor: [] })
    end()
    await run.result()
  })
})

describe('waiting', () => {
  test('waiting for a result rejects with wait-timed-out, and the run continues', async () => {
    await using engine = await testEngine({ procedures: [greet] })
    const run = await engine.run(greet, { name: 'Ada' })
    expect(await refusalOf(run.result({ timeout: '10m' }))).toMatchObject({
      code: 'wait-timed-out',
      details: { after: '10m' },
    })
    expect(await run.result({ timeout: '1h' })).toBe('Ada')
  })

  test('waiting for an ask ends with the ask or rejects with wait-timed-out', async () => {
    const late = procedure({ name: 'late' }, async (ctx) => {
      await ctx.sleep('1h')
      await ctx.human.approve('Now?', { to: 'group:ops' })
    })
    await using engine = await testEngine({ procedures: [late] })
    const run = await engine.run(late)
    expect(await refusalOf(engine.inbox.next({ timeout: '10m' }))).toMatchObject({ code: 'wait-timed-out' })
    expect(await engine.inbox.next({ run: run.id, to: 'group:ops' })).toMatchObject({
      message: 'Now?',
      askedAt: new Date(start + hour),
    })
    expect(await refusalOf(engine.inbox.next({ to: 'group:sales', timeout: '0s' }))).toMatchObject({
      code: 'wait-timed-out',
    })
  })

  test('waiting for an ask of a run that is started later ends with its ask', async () => {
    const asking = procedure({ name: 'asking' }, (ctx) => ctx.human.approve('Now?'))
    await using engine = await testEngine({ procedures: [asking] })
    const next = engine.inbox.next({ run: 'later' })
    await engine.run(asking, undefined, { id: 'later' })
    expect(await next).toMatchObject({ run: 'later', message: 'Now?' })
  })

  test('every wait and every call rejects with engine-stopped once the engine has stopped', async () => {
    const engine = await testEngine({ procedures: [greet] })
    const run = await engine.run(greet, { name: 'Ada' })
    await engine.stop()
    for (const asked of [
      run.result(),
      run.status(),
      engine.list(),
      engine.inbox.next(),
      engine.inbox.get('no ask'),
      engine.run(greet, { name: 'Bob' }),
      engine.log(run.id),
    ])
      expect(await refusalOf(asked)).toMatchObject({ code: 'engine-stopped' })
    await engine.stop()
  })

  test('a wait whose read is under way when the engine stops rejects with engine-stopped', async () => {
    const { store, next } = meddleWith(memory())
    const engine = await createEngine({ store, procedures: [greet] })
    let begin = (): void => {}
    const hasBegun = new Promise<void>((resolve) => {
      begin = resolve
    })
    next('asks.list', async () => {
      begin()
      await stopped
      throw new Error('This connection to the store is closed.')
    })
    const asked = engine.inbox.next()
    const stopped = hasBegun.then(() => engine.stop())
    expect(await refusalOf(asked)).toMatchObject({ code: 'engine-stopped' })
  })
})
