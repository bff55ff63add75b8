import { request as ask, createServer as createProxy } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createEngine } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { readFrames } from '../../../test/support/http/sse.ts'
import { byToken, long, refund, silent } from './support/server.ts'

/** A proxy that passes a reply on only when it has all of it, as some do with streams whatever their headers say. */
async function startBufferingProxy(
  target: URL,
): Promise<{ readonly url: string; held(): number; stop(): void }> {
  let held = 0
  const proxy = createProxy((from, to) => {
    const onward = ask(
      {
        host: target.hostname,
        port: target.port,
        method: from.method,
        path: from.url,
        headers: from.headers,
      },
      (reply) => {
        const chunks: Buffer[] = []
        held++
        reply.on('data', (chunk: Buffer) => chunks.push(chunk))
        reply.on('end', () => {
          held--
          to.writeHead(reply.statusCode ?? 500, reply.headers).end(Buffer.concat(chunks))
        })
        reply.on('error', () => to.destroy())
      },
    )
    onward.on('error', () => to.destroy())
    from.pipe(onward)
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    held: () => held,
    stop: () => {
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

test('a reader behind a proxy that holds streams back misses nothing by polling', async () => {
  const engine = await createEngine({ store: memory(), procedures: [refund, long], logger: silent })
  const server = createServer({ client: engine, auth: byToken, logger: silent })
  const proxy = await startBufferingProxy(new URL((await server.listen({ port: 0 })).url))
  const headers = { authorization: 'Bearer root', 'content-type': 'application/json' }
  // biome-ignore lint/suspicious/noExplicitAny: replies of several routes
  const poll = async (path: string): Promise<any> =>
    (await fetch(`${proxy.url}/v1${path}`, { headers })).json()

  const streamed: string[] = []
  const streaming = fetch(`${proxy.url}/v1/events?after=0`, { headers }).then(async (reply) => {
    for await (const { event } of readFrames(reply)) streamed.push(event)
  })
  await expect.poll(() => proxy.held()).toBe(1)

  await engine.run(refund, { amount: 45 }, { id: 'refund:1' })
  await expect.poll(async () => (await poll('/asks')).items).toMatchObject([{ run: 'refund:1' }])
  const [{ id }] = (await poll('/asks')).items
  const answer = { method: 'POST', headers, body: '{"approved":true}' }
  expect((await fetch(`${proxy.url}/v1/asks/${id}/answer`, answer)).status).toBe(200)
  expect(await poll('/runs/refund:1/result?wait=30s')).toEqual({ output: 'refunded 45' })
  expect((await poll('/asks')).items).toEqual([])

  await engine.run(long, undefined, { id: 'long:1' })
  const seen: number[] = []
  while (seen.length < 10) {
    const { items } = await poll(`/runs/long:1/log?after=${seen.at(-1) ?? -1}&limit=3`)
    // Entries of operations that are under way have no result yet: they are read again.
    const done = (items as { readonly position: number; readonly status: string }[]).toReversed()
    for (const { position, status } of done) {
      if (status !== 'done') break
      seen.push(position)
    }
  }
  expect(seen).toEqual(Array.from({ length: 10 }, (_, position) => position))

  // Nothing has come through the stream. It was held back until the server ended it.
  expect(streamed).toEqual([])
  await server.stop()
  await streaming.catch(() => {})
  proxy.stop()
  await engine.stop()
})
