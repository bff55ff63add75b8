import { procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { refund, startServer } from './support/server.ts'

const fails = procedure({ name: 'fails', bugs: 'fail' }, async () => {
  throw new Error('declined')
})

test('facts say what the caller can do with a run, by its state and by their rights', async () => {
  await using server = await startServer({
    procedures: [fails],
    showRuns: true,
    may: ({ actor }, verb) => actor !== 'user:bot' || verb !== 'retry',
  })
  const run = await server.engine.run(fails, undefined, { id: 'fails:1' })
  await run.result().catch(() => {})
  const canOf = async (who: string) =>
    (await server.call(who, 'GET', '/v1/runs/fails:1?facts=true')).body.facts.can
  const possible = { ok: true }
  expect(await canOf('root')).toEqual({
    ...{ retry: possible, fork: possible, delete: possible },
    ...{ cancel: { ok: false, why: 'It has ended.' }, signal: { ok: false, why: 'It has ended.' } },
  })
  expect(await canOf('olga')).toMatchObject({
    retry: possible,
    delete: { ok: false, why: 'user:olga has role operate, which cannot delete runs.' },
  })
  expect(await canOf('bot')).toMatchObject({
    retry: { ok: false, why: 'user:bot may not retry run fails:1.' },
    fork: possible,
  })
  expect(await canOf('wim')).toMatchObject({
    retry: { ok: false, why: 'user:wim has role watch, which cannot retry runs.' },
  })
})

test('facts come with the values of a run if both are asked for, and only if they are', async () => {
  await using server = await startServer()
  await server.engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  await server.engine.inbox.next({ run: 'refund:1' })
  const read = async (query: string) => (await server.call('wim', 'GET', `/v1/runs/refund:1${query}`)).body
  expect(await read('?values=true&facts=true')).toMatchObject({
    values: { input: { amount: 45 } },
    facts: { entries: 1, openAsks: { count: 1, capped: false }, usage: { calls: 0 } },
  })
  expect(await read('?values=true')).not.toHaveProperty('facts')
  expect(await read('')).not.toHaveProperty('facts')
})

test('facts name the worker of a run to an identity that sees all runs', async () => {
  let begin = (): void => {}
  let release = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const busy = procedure({ name: 'busy' }, async (ctx) => {
    await ctx.step('hold', async () => {
      begin()
      await new Promise<void>((resolve) => {
        release = resolve
      })
    })
  })
  await using server = await startServer({ procedures: [busy], showRuns: true })
  const run = await server.engine.run(busy, undefined, { id: 'busy:1' })
  await begun
  const factsOf = async (who: string) =>
    (await server.call(who, 'GET', '/v1/runs/busy:1?facts=true')).body.facts
  expect(await factsOf('wim')).toMatchObject({ owner: { worker: expect.any(String) } })
  release()
  await run.result()
  expect(await factsOf('wim')).not.toHaveProperty('owner')
})
