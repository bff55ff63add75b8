import { createEngine, type Engine } from '@pawl/core'
import { memory } from '@pawl/testing'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readFrames, type SeenFrame } from '../../../test/support/http/sse.ts'
import { byToken, dispatchOf, identities, refund, requestOf, silent } from './support/server.ts'

let engine: Engine
beforeEach(async () => {
  engine = await createEngine({ store: memory(), procedures: [refund], logger: silent })
})
afterEach(() => engine.stop())

/** Starts a run, and answers its ask. */
async function complete(id: string): Promise<string> {
  const run = await engine.run(refund, { amount: 45 }, { id })
  const ask = await engine.inbox.next({ run: id })
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  await run.result()
  return ask.id
}

async function follow(token: string, path: string, headers: object = {}, dispatch = open().dispatch) {
  return dispatch(requestOf(token, 'GET', path, undefined, headers))
}

const open = (timing: object = {}) => dispatchOf({ client: engine, auth: byToken }, { timing })

async function take(reply: Response, count: number): Promise<readonly SeenFrame[]> {
  const frames: SeenFrame[] = []
  for await (const frame of readFrames(reply)) {
    frames.push(frame)
    if (frames.length === count) break
  }
  return frames
}

test('tells of asks and of ended runs, with the number as the id', async () => {
  const ask = await complete('refund:1')
  const frames = await take(await follow('wim', '/v1/events?after=0'), 3)
  expect(frames.map(({ event, data }) => [event, data.event, data.ask ?? data.run])).toEqual([
    ['ask.opened', 'ask.opened', ask],
    ['ask.closed', 'ask.closed', ask],
    ['run.ended', 'run.ended', 'refund:1'],
  ])
  expect(frames.map(({ id, data }) => id === data.n)).toEqual([true, true, true])
})

test('sends only the events that are asked for', async () => {
  await complete('refund:1')
  const [first] = await take(await follow('wim', '/v1/events?after=0&only=run.ended,run.stuck'), 1)
  expect(first?.event).toBe('run.ended')
  expect((await follow('wim', '/v1/events?only=run.begun')).status).toBe(400)
})

test('sends nothing of the asks and runs that an identity may not see', async () => {
  const ask = await complete('refund:1')
  const brief = open({ lifeMs: 300 })
  const seenBy = async (token: string) => {
    const frames = []
    for await (const frame of readFrames(
      await follow(token, '/v1/events?after=0&open=1', {}, brief.dispatch),
    ))
      frames.push([frame.event, frame.data.ask ?? frame.data.run])
    return frames
  }
  expect(identities['eve']?.names).not.toContain('group:support')
  expect(await seenBy('eve')).toEqual([])
  expect(await seenBy('ana')).toEqual([
    ['ask.opened', ask],
    ['ask.closed', ask],
  ])
})

test('sends all open asks first with open=1, and again to a reader that was cut off in between', async () => {
  const ids: string[] = []
  for (const id of ['refund:1', 'refund:2', 'refund:3']) {
    await engine.run(refund, { amount: 45 }, { id })
    ids.push((await engine.inbox.next({ run: id })).id)
  }
  const cut = await take(await follow('ana', '/v1/events?open=1'), 1)
  expect(cut).toMatchObject([{ event: 'ask.opened', data: { reEmitted: true } }])
  const all = await take(await follow('ana', '/v1/events?open=1'), 3)
  expect(new Set(all.map(({ data }) => data.ask))).toEqual(new Set(ids))
  const newest = all[0]?.data.n
  const resumed = follow('ana', '/v1/events?open=1', { 'last-event-id': String(newest) })
  await engine.inbox.answer(ids[0] ?? '', { approved: true }, { as: 'user:ana' })
  const [next] = await take(await resumed, 1)
  expect(next).toMatchObject({ id: newest + 1, event: 'ask.closed', data: { ask: ids[0] } })
})

test('sends reset with the newest number for a number that the feed does not have', async () => {
  await complete('refund:1')
  const [reset] = await take(await follow('wim', '/v1/events?only=ask.opened', { 'last-event-id': '999' }), 1)
  expect(reset).toMatchObject({ id: 3, event: 'reset', data: { n: 3 } })
})

test('a reader that is cut off 50 times sees each number once and in order', async () => {
  const seen: number[] = []
  let cuts = 0
  const writing = (async () => {
    for (let n = 0; n < 30; n++) await complete(`refund:${n}`)
  })()
  while (seen.length < 90) {
    const server = open()
    const headers = seen.length === 0 ? {} : { 'last-event-id': String(seen.at(-1)) }
    const reply = await follow('wim', '/v1/events?after=0', headers, server.dispatch)
    const count = 1 + (cuts % 3)
    for (const { id } of await take(reply, Math.min(count, 90 - seen.length))) seen.push(id)
    expect(server.streams.count).toBe(0)
    cuts++
  }
  await writing
  expect(cuts).toBeGreaterThanOrEqual(45)
  expect(seen).toEqual(seen.map((_, index) => index + 1))
})
