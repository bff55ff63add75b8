import { connect } from 'node:net'
import { createEngine, type Procedure, procedure } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { byToken, silent } from './support/server.ts'

const shipping: Procedure<undefined, readonly unknown[], { signals: { paid: number } }> = procedure(
  { name: 'shipping', signals: { paid: z.number() } },
  async (ctx) => {
    await ctx.human.approve('Ship?', { to: 'group:support', key: 'ship' })
    // A second payment would be received here.
    return [await ctx.receive('paid'), await ctx.receive('paid', { timeout: '1ms' })]
  },
)

/** Sends a request, and cuts the connection before its reply is read. */
function sendAndCut(url: URL, path: string, body: object, headers: object = {}): Promise<void> {
  const text = JSON.stringify(body)
  const lines = Object.entries({
    host: url.host,
    authorization: 'Bearer olga',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  }).map(([name, value]) => `${name}: ${String(value)}`)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(url.port), url.hostname, () =>
      socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${text}`),
    )
    socket.on('error', reject)
    // The first byte of the reply: the request has had its effect, and the caller never learns of it.
    socket.once('data', () => {
      socket.resetAndDestroy()
      resolve()
    })
  })
}

test('a run, a signal and an answer that are repeated after a cut connection count once', async () => {
  const engine = await createEngine({ store: memory(), procedures: [shipping], logger: silent })
  const server = createServer({ client: engine, auth: byToken, logger: silent })
  const url = new URL((await server.listen({ port: 0 })).url)
  const repeat = async (path: string, body: object, headers: Record<string, string> = {}) => {
    await sendAndCut(url, path, body, headers)
    const reply = await fetch(new URL(path, url), {
      method: 'POST',
      headers: { authorization: 'Bearer olga', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: reply.status, body: await reply.json() }
  }

  const run = { procedure: 'shipping', id: 'shipping:1' }
  expect(await repeat('/v1/runs', run)).toMatchObject({ status: 200, body: { id: 'shipping:1' } })
  expect((await engine.list()).items).toHaveLength(1)

  const paid = { 'idempotency-key': 'payment 7' }
  expect(await repeat('/v1/runs/shipping:1/signals/paid', { payload: 45 }, paid)).toMatchObject({
    status: 202,
  })

  const { id } = await engine.inbox.next({ run: 'shipping:1' })
  expect(await repeat(`/v1/asks/${id}/answer`, { approved: true })).toMatchObject({
    status: 200,
    body: { repeated: true, ask: { answer: { by: 'user:olga' } } },
  })
  expect(await engine.get(shipping, 'shipping:1').result()).toEqual([45, null])
  await server.stop()
  await engine.stop()
})
