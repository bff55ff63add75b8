import { createEngine, type Engine } from '@pawl/core'
import { memory } from '@pawl/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFrames } from '../../../test/support/http/sse.ts'
import { big, byToken, dispatchOf, long, refund, requestOf, silent } from './support/server.ts'

let engine: Engine
beforeEach(async () => {
  engine = await createEngine({ store: memory(), procedures: [refund, long, big], logger: silent })
})
afterEach(() => engine.stop())

const quick = { pollMs: [1, 5] as const }
const open = (timing: object = {}) =>
  dispatchOf({ client: engine, auth: byToken }, { timing: { ...quick, ...timing } })
const follow = (path: string, headers: object = {}, token = 'wim') =>
  requestOf(token, 'GET', path, undefined, headers)
const path = '/v1/runs/refund:1/events'

test('sends the events of a run, and each new one until the run ends', async () => {
  const { dispatch, streams } = open()
  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  const reply = await dispatch(follow(path))
  expect(Object.fromEntries(reply.headers)).toMatchObject({
    'content-type': 'text/event-stream',
    'x-accel-buffering': 'no',
    'cache-control': 'no-store',
  })
  expect(streams.count).toBe(1)
  const seen: number[] = []
  for await (const { id, data } of readFrames(reply)) {
    seen.push(id)
    expect(data).toMatchObject({ seq: id })
    if (data.type === 'asked') {
      const ask = await engine.inbox.next({ run: 'refund:1' })
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
    }
    if (data.type === 'settled') expect(data.entry).toMatchObject({ type: 'hitl_approval', status: 'done' })
  }
  expect(seen).toEqual(seen.map((_, index) => index))
  expect(seen.length).toBeGreaterThan(3)
  expect(streams.count).toBe(0)
})

test('resumes after the last number, from the header or the query, and says when there is no more', async () => {
  const { dispatch } = open()
  await (await engine.run(long, undefined, { id: 'refund:1' })).result()
  const idsOf = async (at: string, headers: object = {}) => {
    const ids: number[] = []
    for await (const { id } of readFrames(await dispatch(follow(at, headers)))) ids.push(id)
    return ids
  }
  const all = await idsOf(path)
  expect(await idsOf(`${path}?after=3`)).toEqual(all.slice(4))
  expect(await idsOf(path, { 'last-event-id': '5' })).toEqual(all.slice(6))
  expect(await idsOf(`${path}?after=0`, { 'last-event-id': '5' })).toEqual(all.slice(6))
  expect((await dispatch(follow(path, { 'last-event-id': String(all.length - 1) }))).status).toBe(204)
  expect((await dispatch(follow(path, { 'last-event-id': 'x' }))).status).toBe(400)
})

test('from=now sends the number of the newest event, and only what is recorded from then on', async () => {
  const { dispatch } = open()
  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  const ask = await engine.inbox.next({ run: 'refund:1' })
  const all: number[] = []
  const reply = await dispatch(follow(`${path}?from=now`))
  const reader = reply.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes('id: ')) text += (await reader?.read())?.value ?? ''
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) text += part.value
  for await (const { id } of readFrames(await dispatch(follow(path)))) all.push(id)
  const [first, ...ids] = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  expect(first).toBeGreaterThan(0)
  expect(ids).toEqual(all.filter((id) => id > (first ?? 0)))
  expect(text.match(/^data: /gm)).toHaveLength(ids.length)
  expect((await dispatch(follow(`${path}?from=now`))).status).toBe(204)
  expect((await dispatch(follow(`${path}?from=soon`))).status).toBe(400)
})

test('ends a stream when its reader has gone, when the caller aborts, and when its time is over', async () => {
  const { dispatch, streams } = open()
  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  await (await dispatch(follow(path))).body?.cancel()
  expect(streams.count).toBe(0)
  const caller = new AbortController()
  const aborted = await dispatch(new Request(follow(path), { signal: caller.signal }))
  caller.abort()
  for await (const _ of readFrames(aborted)) void _
  expect(streams.count).toBe(0)
  const brief = open({ lifeMs: 20 })
  for await (const _ of readFrames(await brief.dispatch(follow(path)))) void _
  expect(brief.streams.count).toBe(0)
})

test('keeps no stream open for HEAD', async () => {
  const { dispatch, streams } = open()
  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  const reply = await dispatch(requestOf('wim', 'HEAD', path))
  expect([reply.status, reply.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
  expect(streams.count).toBe(0)
})

test('sends pings', async () => {
  const { dispatch } = open({ pingMs: 5 })
  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  const reader = (await dispatch(follow(path))).body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (!text.includes(': ping\n\n')) text += (await reader?.read())?.value ?? ''
  expect(text.startsWith('retry: 2000\n\n')).toBe(true)
  await reader?.cancel()
})

test('refuses the twenty-first stream of an identity, until one of them ends', async () => {
  const { dispatch } = open()
  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  const replies = await Promise.all(Array.from({ length: 20 }, () => dispatch(follow(path))))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  const refused = await dispatch(follow(path))
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '10'])
  const other = await dispatch(follow(path, {}, 'root'))
  expect(other.status).toBe(200)
  await replies[0]?.body?.cancel()
  const again = await dispatch(follow(path))
  expect(again.status).toBe(200)
  for (const reply of [...replies.slice(1), other, again]) await reply.body?.cancel()
})

test('cuts off a reader that reads nothing, and lets it resume', async () => {
  const { dispatch, streams, faults } = open({ pingMs: 20 })
  await (await engine.run(big, undefined, { id: 'refund:1' })).result()
  const stuck = await dispatch(follow('/v1/runs/refund:1/events'))
  await expect.poll(() => streams.count).toBe(0)
  await expect(stuck.text()).rejects.toMatchObject({ message: 'The reader of the stream fell behind.' })
  expect(faults).toEqual([])
  const ids: number[] = []
  for await (const { id } of readFrames(await dispatch(follow(path)))) ids.push(id)
  expect(ids).toEqual(ids.map((_, index) => index))
})

test('a proxy that buffers whole replies loses and repeats no event', async () => {
  const { dispatch } = open({ lifeMs: 30 })
  const run = await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  const seen: number[] = []
  const ask = await engine.inbox.next({ run: 'refund:1' })
  for (let isOver = false; !isOver; ) {
    const last = seen.at(-1)
    const reply = await dispatch(follow(path, last === undefined ? {} : { 'last-event-id': String(last) }))
    isOver = reply.status === 204
    const buffered = new Response(await reply.text())
    for await (const { id } of readFrames(buffered)) seen.push(id)
    if (seen.length > 0 && !isOver)
      await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' }).catch(() => {})
  }
  expect(await run.result()).toBe('refunded 45')
  expect(seen).toEqual(seen.map((_, index) => index))
})
