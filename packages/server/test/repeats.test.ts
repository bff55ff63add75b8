import { procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { startServer } from './support/server.ts'

let isDown = true
const order = procedure({ name: 'order' }, async (ctx) => {
  const loaded = await ctx.step('load', () => ({ cents: 45n }))
  const { approved } = await ctx.human.approve('Refund?', { to: 'group:finance', key: 'refund' })
  if (!approved) return 'declined'
  return ctx.step(
    'pay',
    () => {
      if (isDown) throw new Error('the bank is down')
      return `paid ${loaded.cents}`
    },
    { retry: { attempts: 1 } },
  )
})

async function failOne(server: Awaited<ReturnType<typeof startServer>>): Promise<void> {
  isDown = true
  await server.engine.run(order, undefined, { id: 'order:1', by: 'user:zoe' })
  const { id } = await server.engine.inbox.next({ run: 'order:1' })
  await server.engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  await server.engine
    .get('order:1')
    .result()
    .catch(() => {})
  isDown = false
}

test('previews and retries a failed run', async () => {
  await using server = await startServer({ procedures: [order] })
  await failOne(server)
  const preview = await server.call('olga', 'POST', '/v1/runs/order:1/retry/preview', {})
  expect(preview).toMatchObject({
    status: 200,
    body: {
      ...{ position: 2, kept: 2, more: 0, undone: [], children: [] },
      operations: [{ position: 2, type: 'step', name: 'pay', does: 'effect', becomes: 'repeated' }],
    },
  })
  expect(await server.call('olga', 'POST', '/v1/runs/order:1/retry', {})).toMatchObject({ status: 202 })
  expect(await server.engine.get('order:1').result()).toBe('paid 45')
  for (const path of ['/v1/runs/order:1/retry', '/v1/runs/order:1/retry/preview'])
    expect(await server.call('olga', 'POST', path, {})).toMatchObject({
      ...{ status: 409, body: { code: 'run-ended', detail: expect.stringContaining('fork') } },
    })
})

test('previews and forks a run, with edits of any type', async () => {
  await using server = await startServer({ procedures: [order] })
  await failOne(server)
  const edit = { 0: { cents: { $pawl: 'bigint', value: '7' } } }
  expect(
    await server.call('olga', 'POST', '/v1/runs/order:1/fork/preview', { position: 1, edit }),
  ).toMatchObject({
    status: 200,
    body: {
      ...{ position: 1, kept: 1 },
      operations: [
        { position: 0, becomes: 'edited' },
        { position: 1, does: 'ask', becomes: 'depends' },
        { position: 2, does: 'effect', becomes: 'depends' },
      ],
    },
  })
  const body = { position: 1, edit, id: 'order:2' }
  expect(await server.call('olga', 'POST', '/v1/runs/order:1/fork', body)).toMatchObject({
    status: 201,
    body: { id: 'order:2', forkedFrom: { run: 'order:1', position: 1 }, startedBy: 'user:olga' },
  })
  const { id } = await server.engine.inbox.next({ run: 'order:2' })
  await server.engine.inbox.answer(id, { approved: true }, { as: 'user:ana' })
  expect(await server.engine.get('order:2').result()).toBe('paid 7')
  expect(await server.call('olga', 'POST', '/v1/runs/order:1/fork', body)).toMatchObject({
    ...{ status: 200, body: { id: 'order:2', status: 'completed' } },
  })
  expect(
    await server.call('olga', 'POST', '/v1/runs/order:1/fork', { position: 1, edit: { x: 1 } }),
  ).toMatchObject({ status: 400, body: { code: 'option-invalid' } })
})

test.each(['Idempotency-Key', 'id'])(
  'a fork whose reply was lost is found again by its %s, and another request is refused',
  async (by) => {
    await using server = await startServer({ procedures: [order] })
    await failOne(server)
    const fork = (body: object) =>
      by === 'id'
        ? server.call('olga', 'POST', '/v1/runs/order:1/fork', { ...body, id: 'k:1' })
        : server.call('olga', 'POST', '/v1/runs/order:1/fork', body, { 'idempotency-key': 'k:1' })
    const edit = { 0: { cents: 7 } }
    expect(await fork({ position: 1, edit })).toMatchObject({ status: 201, body: { id: 'k:1' } })
    expect(await fork({ position: 1, edit })).toMatchObject({ status: 200, body: { id: 'k:1' } })
    for (const [other, words] of [
      [{ position: 2, edit }, 'a fork of run order:1 at position 1.'],
      [{ position: 1, edit: { 0: { cents: 8 } } }, 'with other edits'],
      [{ position: 1 }, 'with other edits'],
    ] as const)
      expect(await fork(other)).toMatchObject({
        ...{ status: 409, body: { code: 'id-taken', detail: expect.stringContaining(words) } },
      })
  },
)

test('a fork leaves its original at a checkpoint or at an ask of it', async () => {
  const saving = procedure({ name: 'saving' }, async (ctx) => {
    await ctx.step('load', () => 1)
    await ctx.checkpoint('loaded')
    const { approved } = await ctx.human.approve('Continue?', { to: 'group:finance', key: 'continue' })
    return approved
  })
  const may = (_: unknown, verb: string, thing: { readonly id?: string | undefined }): boolean =>
    verb !== 'see' || thing.id !== 'secret'
  await using server = await startServer({ procedures: [saving], may })
  const asks = new Map<string, string>()
  for (const id of ['a', 'secret']) {
    await server.engine.run(saving, undefined, { id })
    asks.set(id, (await server.engine.inbox.next({ run: id })).id)
  }
  const ask = asks.get('a') ?? ''
  const loaded = (await server.engine.checkpoints.latest('a'))?.id ?? ''
  const saved = (await server.engine.checkpoints.create('a', undefined)).id
  const call = (path: string, body: object) => server.call('olga', 'POST', `/v1/runs/a/${path}`, body)
  for (const [checkpoint, operations] of [
    [loaded, [{ name: 'loaded' }, { type: 'hitl_approval', becomes: 'depends' }]],
    [saved, [{ type: 'hitl_approval', becomes: 'repeated' }]],
    [ask, [{ type: 'hitl_approval', becomes: 'repeated' }]],
  ] as const) {
    expect(await call('fork/preview', { checkpoint })).toMatchObject({ status: 200, body: { operations } })
    const body = { checkpoint, id: `of ${checkpoint}` }
    expect(await call('fork', body)).toMatchObject({
      status: 201,
      body: { id: body.id, forkedFrom: { run: 'a' } },
    })
    expect((await server.engine.inbox.next({ run: body.id })).status).toBe('open')
    await server.engine.checkpoints.delete(checkpoint)
    expect(await call('fork', body)).toMatchObject({ status: 200, body: { id: body.id } })
    expect(await call('fork', { position: 2, id: body.id })).toMatchObject({
      ...{ status: 409, body: { detail: expect.stringContaining(`from checkpoint ${checkpoint}`) } },
    })
  }
  const hidden = (await server.engine.checkpoints.latest('secret'))?.id ?? ''
  for (const path of ['fork', 'fork/preview']) {
    for (const checkpoint of [hidden, asks.get('secret'), 'ffffffffffffffff'])
      expect(await call(path, { checkpoint })).toMatchObject({
        ...{ status: 404, body: { detail: `Run a has no checkpoint and no ask ${checkpoint}.` } },
      })
    expect(await call(path, {})).toMatchObject({
      ...{
        status: 400,
        body: {
          code: 'request-invalid',
          detail: expect.stringMatching(/^Give `position`, .*or `checkpoint`/),
        },
      },
    })
    expect(await call(path, { position: 1, checkpoint: saved })).toMatchObject({
      ...{ status: 400, body: { code: 'request-invalid', detail: expect.stringContaining('not both') } },
    })
  }
})

test('an id of a run that the identity may not see is taken, and nothing is said of that run', async () => {
  const may = (_: unknown, verb: string, what: { readonly id?: string | undefined }): boolean =>
    verb !== 'see' || what.id !== 'order:secret'
  await using server = await startServer({ procedures: [order], may })
  await failOne(server)
  await server.engine.fork('order:1', { position: 1 }, { id: 'order:secret' })
  const { status, body } = await server.call('olga', 'POST', '/v1/runs/order:1/fork', {
    ...{ position: 1, id: 'order:secret' },
  })
  expect([status, (body as { code: string }).code]).toEqual([409, 'id-taken'])
  expect(JSON.stringify(body)).not.toContain('fork')
})

test('the answer to a question is edited only by an identity that may answer it', async () => {
  await using server = await startServer({ procedures: [order] })
  await failOne(server)
  const body = { position: 2, edit: { 1: { approved: false } }, id: 'order:3' }
  for (const path of ['/v1/runs/order:1/fork', '/v1/runs/order:1/fork/preview'])
    expect(
      await server.call('olga', 'POST', path, path.endsWith('preview') ? { ...body, id: undefined } : body),
    ).toMatchObject({ status: 403, body: { code: 'not-allowed' } })
  expect(await server.call('root', 'POST', '/v1/runs/order:1/fork', body)).toMatchObject({ status: 201 })
  expect(await server.engine.get('order:3').result()).toBe('declined')
})

test('an identity that may not start runs of a procedure may not fork one', async () => {
  const may = (_: unknown, verb: string): boolean => verb !== 'start'
  await using server = await startServer({ procedures: [order], may })
  await failOne(server)
  expect(await server.call('olga', 'POST', '/v1/runs/order:1/fork', { position: 0 })).toMatchObject({
    ...{ status: 403, body: { code: 'not-allowed' } },
  })
})

test('the answer to a question is edited only by an identity that may answer it, in a fork of a fork of a fork, too', async () => {
  await using server = await startServer({ procedures: [order] })
  await failOne(server)
  const fork = (who: string, of: string, id: string, edit?: object) =>
    server.call(who, 'POST', `/v1/runs/${of}/fork`, { position: 2, id, ...(edit && { edit: { 1: edit } }) })
  let original = 'order:1'
  for (const id of ['f1', 'f2', 'f3']) {
    for (const who of ['olga', 'bot'])
      expect(await fork(who, original, `x:${id}`, { approved: true })).toMatchObject({
        ...{ status: 403, body: { code: 'not-allowed' } },
      })
    expect(await fork('root', original, `x:${id}`, { approved: true, params: { cents: 1 } })).toMatchObject({
      ...{ status: 422, body: { code: 'answer-invalid' } },
    })
    expect(await fork('olga', original, id)).toMatchObject({ status: 201 })
    await server.engine.get(id).result()
    original = id
  }
  await server.engine.delete('order:1')
  expect(await fork('root', 'f3', 'f4', { approved: false })).toMatchObject({ status: 201 })
  expect(await server.engine.get('f4').result()).toBe('declined')
})

test('with selfApproval false no one edits an answer, since they would start the fork', async () => {
  await using server = await startServer({ procedures: [order], selfApproval: false })
  await failOne(server)
  for (const path of ['fork', 'fork/preview'])
    expect(
      await server.call('root', 'POST', `/v1/runs/order:1/${path}`, {
        ...{ position: 2, edit: { 1: { approved: true } } },
      }),
    ).toMatchObject({ status: 403, body: { detail: expect.stringContaining('would start the fork') } })
  const edit = { 0: { cents: 7 } }
  expect(
    await server.call('root', 'POST', '/v1/runs/order:1/fork', { position: 1, edit, id: 'f' }),
  ).toMatchObject({ status: 201 })
})
