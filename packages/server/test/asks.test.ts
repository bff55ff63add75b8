import { procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { startServer, type TestServer } from './support/server.ts'

async function ask({ engine }: TestServer): Promise<string> {
  const run = await engine.run(
    (await import('./support/server.ts')).refund,
    { amount: 45 },
    { id: 'refund:1' },
  )
  return (await engine.inbox.next({ run: run.id })).id
}

const pathOf = (id: string) => `/v1/asks/${encodeURIComponent(id)}`

test('lists an ask to its addressees, and to no other person of role answer', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const own = await server.call('ana', 'GET', '/v1/asks')
  expect(own.status).toBe(200)
  expect(own.body.items).toMatchObject([
    { id, message: 'Refund 45 EUR?', to: ['group:support'], status: 'open' },
  ])
  expect((await server.call('eve', 'GET', '/v1/asks')).body).toEqual({ items: [] })
  expect(await server.call('eve', 'GET', pathOf(id))).toMatchObject({
    status: 404,
    body: { code: 'ask-not-found' },
  })
})

test('lists and counts by the names of the caller, on pages of any size', async () => {
  await using server = await startServer()
  const { refund } = await import('./support/server.ts')
  for (let n = 0; n < 7; n++) {
    const run = await server.engine.run(refund, { amount: n })
    await server.engine.inbox.next({ run: run.id })
  }
  const read = async (who: string, query: string) => (await server.call(who, 'GET', `/v1/asks${query}`)).body
  expect(await read('ana', '/count')).toEqual({ count: 7, capped: false })
  expect(await read('eve', '/count')).toEqual({ count: 0, capped: false })
  expect(await read('wim', '/count')).toEqual({ count: 7, capped: false })
  expect(await read('wim', '/count?mine=true')).toEqual({ count: 0, capped: false })
  expect(await read('olga', '/count?mine=true&overdue=true')).toEqual({ count: 0, capped: false })
  const first = await read('ana', '?limit=5')
  const rest = await read('ana', `?limit=5&cursor=${first.cursor}`)
  expect([...first.items, ...rest.items]).toHaveLength(7)
  expect(rest.cursor).toBe(undefined)
  expect((await read('wim', '?mine=true')).items).toEqual([])
  expect((await read('ana', '?to=group:support')).items).toHaveLength(7)
  for (const path of ['', '/count'])
    expect(await server.call('eve', 'GET', `/v1/asks${path}?to=group:support`)).toMatchObject({ status: 403 })
})

test('stores an answer with the actor of the identity', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const given = await server.call('ana', 'POST', `${pathOf(id)}/answer`, {
    approved: true,
    params: { amount: 40 },
  })
  expect(given).toMatchObject({ status: 200, body: { repeated: false, ask: { status: 'answered' } } })
  expect(await server.engine.get('refund:1').result()).toBe('refunded 40')
  expect((await server.call('ana', 'GET', pathOf(id))).body.answer).toMatchObject({
    by: 'user:ana',
    approved: true,
    params: { amount: 40 },
  })
})

test('accepts the same answer of the same person again, and refuses any other with the winner', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const answer = { approved: true, params: { amount: 40 } }
  await server.call('ana', 'POST', `${pathOf(id)}/answer`, answer)
  expect((await server.call('ana', 'POST', `${pathOf(id)}/answer`, answer)).body).toMatchObject({
    repeated: true,
  })
  const late = await server.call('olga', 'POST', `${pathOf(id)}/answer`, { approved: false })
  expect(late).toMatchObject({
    status: 409,
    body: { code: 'ask-closed', details: { winner: { by: 'user:ana' } } },
  })
  expect(late.headers.get('content-type')).toContain('application/problem+json')
})

test('answers an invalid answer with its issues, and leaves the ask open', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const refused = await server.call('ana', 'POST', `${pathOf(id)}/answer`, {
    approved: true,
    params: { amount: 'much' },
  })
  expect(refused).toMatchObject({ status: 422, body: { code: 'answer-invalid' } })
  expect(refused.body.details.issues[0].path).toBe('params.amount')
  expect((await server.call('ana', 'GET', pathOf(id))).body.status).toBe('open')
})

test('accepts an answer by key before the question is asked', async () => {
  await using server = await startServer()
  const id = await ask(server)
  expect(id).toBeTruthy()
  const stored = await server.call('olga', 'POST', '/v1/runs/refund:1/asks/approve/answer', {
    approved: false,
  })
  expect(stored).toMatchObject({ status: 202, body: { stored: true } })
  expect(await server.engine.get('refund:1').result()).toBe('declined')
})

test('lets only a trusted identity act for another person', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const path = `${pathOf(id)}/answer?as=user:bob`
  expect(await server.call('ana', 'POST', path, { approved: true })).toMatchObject({
    status: 403,
    body: { code: 'not-allowed' },
  })
  expect((await server.call('bot', 'POST', path, { approved: true })).body.ask.answer).toMatchObject({
    by: 'user:bob',
  })
})

test('keeps the channel of an answer: `api`, or what the header says', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const given = await server.call(
    'ana',
    'POST',
    `${pathOf(id)}/answer`,
    { approved: true },
    { 'pawl-via': 'inbox' },
  )
  expect(given.body.ask.answer).toMatchObject({ by: 'user:ana', via: 'inbox' })
  // Sent again through another channel, it is still the same answer.
  expect((await server.call('ana', 'POST', `${pathOf(id)}/answer`, { approved: true })).body).toMatchObject({
    repeated: true,
    ask: { answer: { via: 'inbox' } },
  })
  await server.engine.get('refund:1').result()
  expect((await server.engine.log('refund:1')).execution_log).toMatchObject([{ result: { via: 'inbox' } }])
  for (const [run, header] of [
    ['plain', {}],
    ['odd', { 'pawl-via': 'In Box!' }],
  ] as const) {
    await server.engine.run((await import('./support/server.ts')).refund, { amount: 1 }, { id: run })
    await server.engine.inbox.next({ run })
    const path = `/v1/runs/${run}/asks/approve/answer`
    expect((await server.call('ana', 'POST', path, { approved: true }, header)).status).toBe(202)
    expect((await server.engine.inbox.list({ run, status: 'answered' })).items[0]?.answer?.via).toBe('api')
  }
})

test('resumes a checkpoint with a decision, as pawl resume does', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const body = { checkpoint: id, resolution: { decision: 'approve', params: { amount: 41 } } }
  expect(await server.call('ana', 'POST', '/v1/resume', body)).toMatchObject({
    status: 200,
    body: { ask: { status: 'answered', answer: { by: 'user:ana', approved: true } } },
  })
  expect(await server.engine.get('refund:1').result()).toBe('refunded 41')
})

test('checks an answer and stores nothing', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const check = async (answer: object) =>
    (await server.call('ana', 'POST', `${pathOf(id)}/check`, answer)).body
  expect(await check({ approved: true, params: { amount: 40 } })).toEqual({ ok: true, issues: [] })
  expect(await check({ approved: true, params: { amount: 'much' } })).toMatchObject({
    ok: false,
    issues: [{ path: 'params.amount' }],
  })
  expect((await server.call('ana', 'GET', pathOf(id))).body.status).toBe('open')
})

test('gives one answer to several asks, with an outcome for each', async () => {
  await using server = await startServer()
  const first = await ask(server)
  const other = await server.engine.run(
    (await import('./support/server.ts')).refund,
    { amount: 1 },
    { id: 'r:2' },
  )
  const second = (await server.engine.inbox.next({ run: other.id })).id
  await server.engine.inbox.answer(second, { approved: false }, { as: 'user:olga' })
  const body = { asks: [first, second, 'none/0'], answer: { approved: true } }
  const given = await server.call('ana', 'POST', '/v1/asks/answers', body)
  expect(given).toMatchObject({
    status: 200,
    body: {
      outcomes: [
        { ask: first, status: 'stored' },
        {
          ask: second,
          status: 'refused',
          problem: { code: 'ask-closed', details: { winner: { by: 'user:olga' } } },
        },
        { ask: 'none/0', status: 'refused', problem: { code: 'ask-not-found' } },
      ],
    },
  })
  const again = await server.call('ana', 'POST', '/v1/asks/answers', body)
  expect(again.body.outcomes[0].status).toBe('repeated')
  expect((await server.call('eve', 'POST', '/v1/asks/answers', body)).body.outcomes[0]).toMatchObject({
    status: 'refused',
    problem: { code: 'ask-not-found' },
  })
})

test('counts no asks that `may` hides', async () => {
  await using server = await startServer({ may: (identity) => identity.actor !== 'user:ana' })
  await ask(server)
  expect((await server.call('ana', 'GET', '/v1/asks/count')).body).toEqual({ count: 0, capped: false })
  expect((await server.call('olga', 'GET', '/v1/asks/count')).body).toEqual({ count: 1, capped: false })
})

test('lists and counts the asks of a risk, page by page', async () => {
  const risky = procedure({ name: 'risky' }, async (ctx): Promise<void> => {
    await Promise.all(
      (['high', 'low', 'high', 'medium', 'high'] as const).map((risk, index) =>
        ctx.human.approve(`Continue with ${index}?`, { risk, key: `ask-${index}` }),
      ),
    )
  })
  await using server = await startServer({ procedures: [risky] })
  await server.engine.run(risky, undefined, { id: 'risky:1' })
  await expect.poll(() => server.engine.inbox.count({})).toEqual({ count: 5, capped: false })
  const messages: string[] = []
  let path: string | undefined = '/v1/asks?risk=low&limit=1'
  while (path !== undefined) {
    const { body } = await server.call('root', 'GET', path)
    messages.push(...body.items.map(({ message }: { message: string }) => message))
    path = body.cursor && `/v1/asks?risk=low&limit=1&cursor=${encodeURIComponent(body.cursor)}`
  }
  expect(messages).toEqual(['Continue with 1?'])
  expect(await server.call('root', 'GET', '/v1/asks/count?risk=high')).toMatchObject({ body: { count: 3 } })
  expect(await server.call('root', 'GET', '/v1/asks?risk=none')).toMatchObject({ status: 400 })
})

test('a request for a risk reads a limited number of asks, and its cursor reaches the rest', async () => {
  const plain = procedure({ name: 'plain' }, async (ctx): Promise<void> => {
    const keys = Array.from({ length: 400 }, (_, n) => `ask-${n}`)
    await Promise.all(keys.map((key) => ctx.human.approve('Continue?', { key })))
  })
  const risky = procedure({ name: 'risky' }, async (ctx): Promise<void> => {
    const ask = (risk: 'low' | 'high') => ctx.human.approve(`A ${risk} risk?`, { risk, key: risk })
    await Promise.all([ask('low'), ask('high')])
  })
  await using server = await startServer({ procedures: [plain, risky] })
  const starts = ['p1', 'p2', 'p3'].map((id) => server.engine.run(plain, undefined, { id }))
  await Promise.all(starts)
  await expect.poll(() => server.engine.inbox.count({})).toEqual({ count: 1_000, capped: true })
  await expect.poll(() => server.engine.inbox.count({ run: 'p3' })).toEqual({ count: 400, capped: false })
  await server.engine.run(risky, undefined, { id: 'r' })
  await expect.poll(() => server.engine.inbox.count({ run: 'r' })).toEqual({ count: 2, capped: false })

  const first = (await server.call('root', 'GET', '/v1/asks?risk=low')).body
  expect(first).toEqual({ items: [], cursor: expect.any(String) })
  const rest = await server.call(
    'root',
    'GET',
    `/v1/asks?risk=low&cursor=${encodeURIComponent(first.cursor)}`,
  )
  expect(rest.body).toEqual({ items: [expect.objectContaining({ message: 'A low risk?' })] })
  const lows = await server.call('root', 'GET', '/v1/asks/count?risk=low')
  expect(lows.body).toEqual({ count: 0, capped: true })
  // The list begins with what is urgent, so no further ask has this risk.
  const highs = await server.call('root', 'GET', '/v1/asks?risk=high')
  expect(highs.body).toEqual({ items: [expect.objectContaining({ message: 'A high risk?' })] })
  const count = await server.call('root', 'GET', '/v1/asks/count?risk=high')
  expect(count.body).toEqual({ count: 1, capped: false })
})
