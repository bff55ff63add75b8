import { FinalError, procedure } from '@pawl/core'
import { expect, test } from 'vitest'
import { readFrames, type SeenFrame } from '../../../test/support/http/sse.ts'
import { byToken, dispatchOf, requestOf, startServer } from './support/server.ts'

const tell = procedure({ name: 'tell' }, async (ctx) => {
  await ctx.human.notify('Order 7 is late', { severity: 'warning', to: 'group:support' })
})
/** Its undo fails. */
const paid = procedure({ name: 'paid', owner: 'group:money' }, async (ctx) => {
  await ctx.step('charge', () => {}, { undo: () => Promise.reject(new FinalError('the bank says no')) })
  throw new FinalError('after all')
})

test('the stream of events tells of a notice to the people who may see it', async () => {
  await using server = await startServer({ procedures: [tell] })
  await (await server.engine.run(tell, undefined, { id: 'order:7' })).result()
  const [notice] = (await server.engine.inbox.notices()).items
  const { dispatch } = dispatchOf({ client: server.engine, auth: byToken }, { timing: { lifeMs: 300 } })
  const seenBy = async (token: string, query = '') => {
    const frames: SeenFrame[] = []
    for await (const frame of readFrames(
      await dispatch(requestOf(token, 'GET', `/v1/events?after=0${query}`)),
    ))
      frames.push(frame)
    return frames
  }
  const told = { event: 'notice', run: 'order:7', notice: notice?.id, at: notice?.at.toISOString() }
  for (const token of ['wim', 'ana'])
    expect((await seenBy(token, '&only=notice')).map(({ event, data }) => ({ event, data }))).toEqual([
      { event: 'notice', data: { ...told, n: 1 } },
    ])
  expect(await seenBy('eve')).toEqual([])
})

test('the metrics count runs with an undo that failed', async () => {
  await using server = await startServer({ procedures: [tell, paid] })
  const figure = async () =>
    /\npawl_runs_rollback_failed (\d+)\n/.exec((await server.call('wim', 'GET', '/metrics')).body)?.[1]
  await (await server.engine.run(tell)).result()
  expect(await figure()).toBe('0')
  await (await server.engine.run(paid)).result().catch(() => {})
  expect(await figure()).toBe('1')
})

test('a notice is listed for the people who may see it, and read marks are of each person', async () => {
  await using server = await startServer({ procedures: [tell] })
  await (await server.engine.run(tell, undefined, { id: 'order:7' })).result()
  const listed = async (token: string, query = '') =>
    (await server.call(token, 'GET', `/v1/notices${query}`)).body.items
  expect(await listed('ana')).toMatchObject([
    {
      run: 'order:7',
      kind: 'notice',
      severity: 'warning',
      message: 'Order 7 is late',
      to: ['group:support'],
      isRead: false,
    },
  ])
  expect(await listed('eve')).toEqual([])
  const [{ id }] = await listed('wim')
  // One that the caller does not see is not marked.
  expect((await server.call('eve', 'POST', '/v1/notices/read', { notices: [id] })).body).toEqual({ read: 0 })
  expect((await server.call('ana', 'POST', '/v1/notices/read', { notices: [id] })).body).toEqual({ read: 1 })
  expect(await listed('ana', '?unread=true')).toEqual([])
  expect(await listed('olga', '?unread=true')).toHaveLength(1)
})
