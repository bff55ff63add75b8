import { decider, procedure } from '@pawl/core'
import { answerRulesOf } from '@pawl/core/internal'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { startServer } from './support/server.ts'

const approval = async (human: { approve(message: string): Promise<{ approved: boolean }> }) =>
  (await human.approve('Pay?')).approved
const pay = procedure({ name: 'pay' }, (ctx) => approval(ctx.human))
const paying = procedure({ name: 'paying' }, async (ctx): Promise<boolean> => {
  await ctx.step('look', () => 1)
  return ctx.call(pay)
})
const again = procedure({ name: 'again', signals: { more: z.boolean() } }, async (ctx): Promise<boolean> => {
  const isMore = await ctx.receive('more')
  return isMore ? ctx.continueAs() : approval(ctx.human)
})
const procedures = [pay, paying, again]
const yes = { approved: true }

/** Who may answer the open ask of a run, by its starter, by its forker, and by a third person. */
async function mayAnswer(server: Awaited<ReturnType<typeof startServer>>, run: string) {
  const asks = await server.engine.inbox.list()
  const ask = asks.items.find((one) => one.run === run || one.run.startsWith(`${run}.`))
  if (ask === undefined) throw new Error(`Run ${run} asks nothing.`)
  const person = (as: `user:${string}`) => answerRulesOf(server.engine).judge(ask, { as, names: [] }).ok
  const statuses: Record<string, number> = {}
  for (const who of ['ana', 'olga', 'root'])
    statuses[who] = (await server.call(who, 'POST', `/v1/asks/${ask.id}/check`, yes)).status
  return { channels: [person('user:ana'), person('user:olga'), person('user:root')], statuses, id: ask.id }
}

const waiting = async (server: Awaited<ReturnType<typeof startServer>>, count: number) =>
  expect.poll(async () => (await server.engine.inbox.list()).items.length).toBe(count)

test.each([
  ['a fork', pay, []],
  ['a child of a fork', paying, []],
  ['a later generation of a fork', again, [true, false]],
] as const)('who started the original cannot answer in %s', async (_what, started, signals) => {
  await using server = await startServer({ selfApproval: false, procedures })
  const { engine } = server
  const send = async (id: string, all: readonly boolean[]) => {
    for (const one of all) await engine.get(id).signal('more', one)
  }
  await engine.run(started as typeof pay, undefined, { id: 'a', by: 'user:ana' })
  await send('a', signals.slice(1))
  await waiting(server, 1)
  await engine.fork('a', { position: 0 }, { id: 'b', by: 'user:olga' })
  await send('b', signals)
  await waiting(server, 2)
  expect(await mayAnswer(server, 'b')).toMatchObject({
    channels: [false, false, true],
    statuses: { ana: 403, olga: 403, root: 200 },
  })
  // Of the original, only the one who started it.
  expect(await mayAnswer(server, 'a')).toMatchObject({ statuses: { ana: 403, olga: 200, root: 200 } })
})

test('nor can they in a fork of the fork, nor before it asks', async () => {
  await using server = await startServer({ selfApproval: false, procedures })
  const keyed = procedure({ name: 'keyed', signals: { go: z.void() } }, async (ctx) => {
    await ctx.receive('go')
    return (await ctx.human.approve('Pay?', { key: 'pay' })).approved
  })
  await using early = await startServer({ selfApproval: false, procedures: [keyed] })
  await server.engine.run(pay, undefined, { id: 'a', by: 'user:ana' })
  await waiting(server, 1)
  await server.engine.fork('a', { position: 0 }, { id: 'b', by: 'user:olga' })
  await waiting(server, 2)
  await server.engine.fork('b', { position: 0 }, { id: 'c', by: 'user:eve' })
  await waiting(server, 3)
  const { id, statuses } = await mayAnswer(server, 'c')
  expect(statuses).toEqual({ ana: 403, olga: 403, root: 200 })
  expect((await server.call('eve', 'POST', `/v1/asks/${id}/check`, yes)).status).toBe(403)

  await early.engine.run(keyed, undefined, { id: 'k', by: 'user:root' })
  const fork = await early.engine.fork('k', { position: 0 }, { id: 'l', by: 'user:olga' })
  expect(await early.call('root', 'POST', '/v1/runs/l/asks/pay/answer', yes)).toMatchObject({
    status: 403,
    body: { code: 'not-allowed' },
  })
  await fork.cancel()
})

test('no person starts a fork that acts upon an answer of their own, unless they may approve what they start', async () => {
  const choosing = procedure({ name: 'choosing' }, async (ctx) => {
    const { approved } = await ctx.human.approve('Pay?')
    const decided = await ctx.agent.decide('Which?', ['a', 'b'], {
      agent: decider('unsure', async () => ({ choice: 'a', rationale: '', confidence: 0 })),
      ...{ minConfidence: 1, fallback: { ask: {} } },
    })
    const gated = await ctx.gate('wire', { policy: () => 'human', params: {}, run: () => 'wired' })
    return [await ctx.step('act', () => approved), decided.choice, gated.done]
  })
  for (const selfApproval of [false, true]) {
    await using server = await startServer({ selfApproval, procedures: [choosing] })
    const run = await server.engine.run(choosing, undefined, { id: 'a', by: 'user:ana' })
    for (const [who, answer] of [
      ['olga', yes],
      ['root', { choice: 'b' }],
      ['olga', yes],
    ] as const) {
      await waiting(server, 1)
      const [ask] = (await server.engine.inbox.list()).items
      expect((await server.call(who, 'POST', `/v1/asks/${ask?.id}/answer`, answer)).status).toBe(200)
    }
    await run.result()
    const { execution_log } = await server.engine.log('a')
    const at = (name: string) => execution_log.find((one) => one.name === name)?.position as number
    const fork = async (who: string, position: number) =>
      (await server.call(who, 'POST', '/v1/runs/a/fork', { position })).status
    const own = selfApproval ? 201 : 403
    expect({
      'olga keeps her approval': await fork('olga', at('act')),
      'olga forks before it': await fork('olga', at('approve')),
      'root keeps his decision': await fork('root', at('wire')),
      'root keeps the approval of another': await fork('root', at('approve') + 1),
    }).toEqual({
      'olga keeps her approval': own,
      'olga forks before it': 201,
      'root keeps his decision': own,
      'root keeps the approval of another': 201,
    })
    const preview = await server.call('olga', 'POST', '/v1/runs/a/fork/preview', { position: at('act') })
    expect(preview.status).toBe(selfApproval ? 200 : 403)
  }
})

const asking = procedure({ name: 'asking' }, async (ctx) => (await ctx.human.approve('Pay?')).approved)
const middle = procedure({ name: 'middle' }, (ctx) => ctx.call(asking))
const ways = {
  'a child': procedure({ name: 'calling' }, async (ctx) => {
    const isPaid = await ctx.call(asking)
    return ctx.step('act', () => isPaid)
  }),
  'a run below a child': procedure({ name: 'nested' }, async (ctx) => {
    const isPaid = await ctx.call(middle)
    return ctx.step('act', () => isPaid)
  }),
  'a spawned run': procedure({ name: 'spawning' }, async (ctx) => {
    const child = await ctx.spawn(asking)
    const isPaid = await child.result()
    return ctx.step('act', () => isPaid)
  }),
  'an earlier generation': procedure(
    { name: 'continuing', input: z.boolean().optional() },
    async (ctx, isPaid): Promise<unknown> => {
      if (isPaid !== undefined) return ctx.step('act', () => isPaid)
      return ctx.continueAs((await ctx.human.approve('Pay?')).approved)
    },
  ),
}

async function answeredBy(server: Awaited<ReturnType<typeof startServer>>, who: string): Promise<void> {
  await waiting(server, 1)
  const [ask] = (await server.engine.inbox.list()).items
  expect((await server.call(who, 'POST', `/v1/asks/${ask?.id}/answer`, yes)).status).toBe(200)
}

test.each(Object.entries(ways))(
  'nor upon an answer of their own that came through %s',
  async (_what, way) => {
    for (const selfApproval of [false, true]) {
      await using server = await startServer({ selfApproval, procedures: [asking, middle, way] })
      const run = await server.engine.run(way as typeof pay, undefined, { id: 'a', by: 'user:ana' })
      await answeredBy(server, 'olga')
      await run.result()
      const { execution_log } = await server.engine.log('a')
      const position = execution_log.find(({ name }) => name === 'act')?.position as number
      const fork = (who: string, of: string, id: string) =>
        server.call(who, 'POST', `/v1/runs/${of}/fork`, { position, id })
      expect((await fork('olga', 'a', 'b')).status).toBe(selfApproval ? 201 : 403)
      expect((await fork('root', 'a', 'c')).status).toBe(201)
      await server.engine.get('c').result()
      // The fork has copied the result, and not what led to it.
      const again = await fork('olga', 'c', 'd')
      expect(again.status).toBe(selfApproval ? 201 : 403)
      if (!selfApproval)
        expect(again.body).toMatchObject({
          detail: expect.stringContaining('user:olga has given the answer'),
        })
    }
  },
)

test('a fork whose answers cannot be known any more is refused', async () => {
  const way = ways['a child']
  await using server = await startServer({ selfApproval: false, procedures: [asking, way] })
  const run = await server.engine.run(way, undefined, { id: 'a', by: 'user:ana' })
  await answeredBy(server, 'root')
  await run.result()
  const [child] = (await server.engine.list({ procedure: 'asking' })).items
  await server.engine.delete(child?.id ?? '')
  const { status, body } = await server.call('olga', 'POST', '/v1/runs/a/fork', { position: 1 })
  expect(status).toBe(400)
  expect(body).toMatchObject({ code: 'option-invalid', detail: expect.stringContaining('is deleted') })
  expect((await server.call('olga', 'POST', '/v1/runs/a/fork', { position: 0 })).status).toBe(201)
})

const quick = procedure({ name: 'quick', input: z.boolean().optional() }, async (ctx, isPaid) =>
  isPaid === undefined ? (await ctx.human.approve('Pay?')).approved : isPaid,
)
const waysToC = {
  'a child': procedure({ name: 'calling-c' }, async (ctx) => {
    const isPaid = await ctx.call(quick, undefined, { id: 'c' })
    return ctx.step('act', () => isPaid)
  }),
  'a spawned run': procedure({ name: 'spawning-c' }, async (ctx) => {
    const child = await ctx.spawn(quick, undefined, { id: 'c' })
    const isPaid = await child.result()
    return ctx.step('act', () => isPaid)
  }),
  'a detached run': procedure({ name: 'detaching-c' }, async (ctx) => {
    const child = await ctx.spawn(quick, undefined, { id: 'c', onParentEnd: 'detach' })
    const isPaid = await child.result()
    return ctx.step('act', () => isPaid)
  }),
  'a run that others started': procedure({ name: 'getting-c' }, async (ctx) => {
    const isPaid = await ctx.get(quick, 'c').result()
    return ctx.step('act', () => isPaid)
  }),
}
const actOf = async ({ engine }: Awaited<ReturnType<typeof startServer>>, run: string) =>
  (await engine.log(run)).execution_log.find(({ name }) => name === 'act')?.position as number

test.each(Object.entries(waysToC))(
  'one who begins %s again, or creates another under its id, does not hide an answer in it',
  async (_what, way) => {
    await using server = await startServer({ selfApproval: false, procedures: [quick, way] })
    const { engine } = server
    if (way.name === 'getting-c') await engine.run(quick, undefined, { id: 'c', by: 'user:ana' })
    const run = await engine.run(way, undefined, { id: 'a', by: 'user:ana' })
    await answeredBy(server, 'olga')
    await run.result()
    const position = await actOf(server, 'a')
    const fork = (who: string) => server.call(who, 'POST', '/v1/runs/a/fork', { position })
    const olga = { id: 'c', by: 'user:olga' } as const
    await (await engine.runOrGet(quick, true, { ...olga, ifEnded: 'again' })).result()
    expect(await fork('olga')).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('user:olga has given the answer') },
    })
    expect((await fork('root')).status).toBe(201)

    await engine.delete('c')
    await (await engine.run(quick, true, olga)).result()
    expect(await fork('olga')).toMatchObject({
      status: 400,
      body: {
        code: 'option-invalid',
        detail: expect.stringContaining('is deleted, and another run has its id now'),
      },
    })
  },
)

test('nor does one who creates another run under the id of the original of a fork', async () => {
  const way = ways['an earlier generation']
  await using server = await startServer({ selfApproval: false, procedures: [way] })
  const { engine } = server
  const run = await engine.run(way, undefined, { id: 'a', by: 'user:ana' })
  await answeredBy(server, 'olga')
  await run.result()
  const position = await actOf(server, 'a')
  const fork = (who: string, of: string, id: string) =>
    server.call(who, 'POST', `/v1/runs/${of}/fork`, { position, id })
  expect((await fork('root', 'a', 'b')).status).toBe(201)
  await engine.get('b').result()
  // Beginning the original again adds a generation, and the fork has copied the one before.
  await (await engine.runOrGet(way, true, { id: 'a', by: 'user:olga', ifEnded: 'again' })).result()
  expect((await fork('olga', 'b', 'c')).status).toBe(403)

  await engine.delete('a')
  await (await engine.run(way, true, { id: 'a', by: 'user:olga' })).result()
  expect(await fork('olga', 'b', 'c')).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('is deleted, and another run has its id now') },
  })
})

test('a fork that has continued is forked by all who have not answered in what it kept', async () => {
  const way = procedure(
    { name: 'going', input: z.boolean().optional(), signals: { more: z.void() } },
    async (ctx, isPaid): Promise<unknown> => {
      if (isPaid !== undefined) return ctx.step('act', () => isPaid)
      const isChildPaid = await ctx.call(asking)
      await ctx.receive('more')
      return ctx.continueAs(isChildPaid)
    },
  )
  await using server = await startServer({ selfApproval: false, procedures: [asking, way] })
  const { engine } = server
  const run = await engine.run(way, undefined, { id: 'a', by: 'user:ana' })
  await answeredBy(server, 'olga')
  await expect.poll(async () => (await engine.log('a')).execution_log.length).toBe(2)
  expect((await server.call('root', 'POST', '/v1/runs/a/fork', { position: 1, id: 'b' })).status).toBe(201)
  await engine.get('b').signal('more', undefined)
  await engine.get('b').result()
  const position = await actOf(server, 'b')
  const fork = (who: string) => server.call(who, 'POST', '/v1/runs/b/fork', { position })
  expect((await fork('root')).status).toBe(201)
  expect((await fork('olga')).status).toBe(403)
  await run.cancel()
})

test('a fork whose own fork has the id of its deleted original is refused', async () => {
  const way = ways['a child']
  await using server = await startServer({ selfApproval: false, procedures: [asking, way] })
  const run = await server.engine.run(way, undefined, { id: 'a', by: 'user:ana' })
  await answeredBy(server, 'olga')
  await run.result()
  const fork = (who: string, of: string, position: number, id: string) =>
    server.call(who, 'POST', `/v1/runs/${of}/fork`, { position, id })
  expect((await fork('root', 'a', 1, 'b')).status).toBe(201)
  await server.engine.get('b').result()
  await server.engine.delete('a')
  expect((await fork('olga', 'b', 0, 'a')).status).toBe(201)
  expect(await fork('olga', 'b', 1, 'c')).toMatchObject({
    status: 400,
    body: { detail: expect.stringContaining('is deleted, and another run has its id now') },
  })
  await server.engine.get('a').cancel()
})
