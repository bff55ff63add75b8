import { procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { byToken, dispatchOf, requestOf, startServer } from './support/server.ts'

const refuse = procedure({ name: 'refuse' }, async (ctx) => {
  await ctx.human.approve('Refund?', { require: 'comment-on-reject', key: 'ok', to: 'group:support' })
})
const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const

async function start() {
  const server = await startServer({ procedures: [refuse] })
  await server.engine.run(refuse, undefined, { id: 'r:1' })
  const { id } = await server.engine.inbox.next({ run: 'r:1' })
  return { server, id }
}

test('every route refuses a rejection without a required comment, and shows which decision needs one', async () => {
  const { server, id } = await start()
  await using _ = server
  const { body: ask } = await server.call('ana', 'GET', `/v1/asks/${id}`)
  expect(ask).toMatchObject({
    require: 'comment-on-reject',
    decisions: [{ value: 'approve' }, { value: 'reject', comment: 'required' }],
  })
  expect((await server.call('ana', 'GET', '/v1/asks')).body.items).toMatchObject([
    { require: 'comment-on-reject' },
  ])
  const no = { approved: false }
  const issues = [{ path: 'comment', message: 'is required: say why' }]
  const refused = { status: 422, body: { code: 'answer-invalid', details: { issues } } }
  expect(await server.call('ana', 'POST', `/v1/asks/${id}/answer`, no)).toMatchObject(refused)
  expect(await server.call('ana', 'POST', '/v1/runs/r:1/asks/ok/answer', no)).toMatchObject(refused)
  const resume = { checkpoint: id, resolution: { decision: 'reject' } }
  expect(await server.call('ana', 'POST', '/v1/resume', resume)).toMatchObject(refused)
  expect(await server.call('ana', 'POST', `/v1/asks/${id}/check`, no)).toMatchObject({
    body: { ok: false, issues },
  })
  const many = await server.call('ana', 'POST', '/v1/asks/answers', { asks: [id], answer: no })
  expect(many.body.outcomes).toMatchObject([{ status: 'refused', problem: { code: 'answer-invalid' } }])
  const said = { ...no, comment: 'a duplicate' }
  expect(await server.call('ana', 'POST', `/v1/asks/${id}/answer`, said)).toMatchObject({ status: 200 })
})

test('the page of a link says which button needs a comment, and refuses it without', async () => {
  const { server, id } = await start()
  await using _ = server
  const { dispatch } = dispatchOf({ client: server.engine, auth: byToken, links })
  const made = await dispatch(requestOf('root', 'POST', `/v1/asks/${id}/links`, { as: 'user:ana' }))
  const { url } = (await made.json()) as { readonly url: string }
  const token = url.slice(url.lastIndexOf('/') + 1)
  const shown = await (await dispatch(requestOf(null, 'GET', `/a/${token}`))).text()
  expect(shown).toContain('Comment (required for: Reject)')
  const send = (fields: Record<string, string>) =>
    dispatch(
      requestOf(null, 'POST', '/a', new URLSearchParams({ token, ...fields }).toString(), {
        'content-type': 'application/x-www-form-urlencoded',
      }),
    )
  const refused = await send({ choice: 'reject' })
  expect(refused.status).toBe(422)
  expect(await refused.text()).toContain('comment: is required: say why')
  expect((await send({ choice: 'reject', comment: 'a duplicate' })).status).toBe(200)
})
