import { expect, test } from 'vitest'
import { refund, startServer, type TestServer } from './support/server.ts'

async function ask({ engine }: TestServer, by: `user:${string}` = 'user:zoe'): Promise<string> {
  const run = await engine.run(refund, { amount: 45 }, { id: 'refund:1', by })
  return (await engine.inbox.next({ run: run.id })).id
}

const answerOf = (id: string) => `/v1/asks/${encodeURIComponent(id)}/answer`
const approved = { approved: true }

test('lets only an admin answer before the question is asked, as its people are unknown', async () => {
  await using server = await startServer({ showRuns: true })
  await ask(server)
  const early = '/v1/runs/refund:1/asks/later/answer'
  expect(await server.call('ana', 'POST', early, approved)).toMatchObject({ status: 403 })
  expect(await server.call('olga', 'POST', early, approved)).toMatchObject({ status: 403 })
  expect(await server.call('root', 'POST', early, approved)).toMatchObject({ status: 202 })
})

test('refuses an answer by key to an ask that is addressed to others', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const byKey = '/v1/runs/refund:1/asks/approve/answer'
  expect(await server.call('eve', 'POST', byKey, approved)).toMatchObject({
    status: 404,
    body: { code: 'ask-not-found' },
  })
  expect(await server.engine.inbox.get(id)).toMatchObject({ status: 'open' })
})

test('refuses the answer of the person who started the run, also through an identity that acts for them', async () => {
  await using server = await startServer({ selfApproval: false })
  const id = await ask(server, 'user:ana')
  const through = `${answerOf(id)}?as=user:ana`
  expect(await server.call('ana', 'POST', answerOf(id), approved)).toMatchObject({ status: 403 })
  expect(await server.call('bot', 'POST', through, approved)).toMatchObject({ status: 403 })
  expect(await server.call('olga', 'POST', answerOf(id), approved)).toMatchObject({ status: 200 })
})

test('asks `may` before a run is started, and hides the existing run that it hides', async () => {
  await using server = await startServer({
    may: (_identity, verb, thing) => verb !== 'start' || thing.procedure !== 'refund',
  })
  const body = { procedure: 'refund', input: { amount: 45 }, id: 'refund:1' }
  expect(await server.call('olga', 'POST', '/v1/runs', body)).toMatchObject({
    status: 403,
    body: { code: 'not-allowed' },
  })
  expect((await server.engine.list()).items).toEqual([])
})

test('does not return an existing run that the identity may not see', async () => {
  await using server = await startServer({ may: (_identity, verb) => verb !== 'see' })
  await ask(server)
  const body = { procedure: 'refund', input: { amount: 45 }, id: 'refund:1', existing: 'any' }
  expect(await server.call('olga', 'POST', '/v1/runs', body)).toMatchObject({
    status: 409,
    body: { code: 'id-taken' },
  })
})

test('accepts a repeated resolution of the same person', async () => {
  await using server = await startServer()
  const id = await ask(server)
  const body = { checkpoint_id: id, resolution: { decision: 'approve', params: { amount: 41 } } }
  expect((await server.call('ana', 'POST', '/v1/resume', body)).body).toMatchObject({ repeated: false })
  expect((await server.call('ana', 'POST', '/v1/resume', body)).body).toMatchObject({ repeated: true })
  const other = { checkpoint_id: id, resolution: { decision: 'reject' } }
  expect(await server.call('ana', 'POST', '/v1/resume', other)).toMatchObject({
    status: 409,
    body: { code: 'ask-closed' },
  })
})

test('ends a waiting request when its caller has gone', async () => {
  await using server = await startServer()
  await ask(server)
  const caller = new AbortController()
  const waiting = server.server.fetch(
    new Request('http://127.0.0.1/v1/runs/refund:1?wait=60s', {
      headers: { host: '127.0.0.1', authorization: 'Bearer wim' },
      signal: caller.signal,
    }),
  )
  caller.abort()
  expect((await waiting).status).toBe(503)
})
