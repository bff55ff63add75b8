import { createServer as createNodeServer, type Server as NodeServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve } from '@hono/node-server'
import { createEngine } from '@pawl/core'
import { createServer, type Server, toNode } from '@pawl/server'
import { memory } from '@pawl/testing'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { readFrames } from '../../../test/support/http/sse.ts'
import { byToken, long, refund, silent } from './support/server.ts'

interface Mounted {
  readonly url: string
  close(): Promise<void>
}

const frameworks: Readonly<Record<string, (pawl: Server) => Promise<Mounted>>> = {
  async Hono(pawl) {
    const app = new Hono()
    app.mount('/pawl', pawl.fetch)
    const server = await new Promise<NodeServer>((resolve) => {
      const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
        resolve(started as NodeServer),
      )
    })
    return mountedOn(server)
  },
  async Express(pawl) {
    const app = express()
    app.use('/pawl', toNode(pawl))
    app.use(express.json())
    return mountedOn(createNodeServer(app), true)
  },
  async Fastify(pawl) {
    const app = fastify({ forceCloseConnections: true })
    const handle = toNode(pawl)
    app.register(async (scope) => {
      // Before Fastify reads the body.
      scope.addHook('onRequest', async (request, reply) => {
        reply.hijack()
        handle(request.raw, reply.raw)
      })
      scope.all('/pawl/*', async () => {})
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { url: urlOf(app.server), close: () => app.close() }
  },
  async 'node:http'(pawl) {
    return mountedOn(createNodeServer(toNode(pawl)), true)
  },
  /** What a catch-all route of Next.js exports: plain functions of a request. */
  async 'exported handlers'(pawl) {
    const { GET, POST, DELETE } = { GET: pawl.fetch, POST: pawl.fetch, DELETE: pawl.fetch }
    const app = new Hono()
    app.get('/pawl/*', ({ req }) => GET(req.raw))
    app.post('/pawl/*', ({ req }) => POST(req.raw))
    app.delete('/pawl/*', ({ req }) => DELETE(req.raw))
    const server = await new Promise<NodeServer>((resolve) => {
      const started = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () =>
        resolve(started as NodeServer),
      )
    })
    return mountedOn(server)
  },
}

test.each(Object.keys(frameworks))('works in: %s', async (name) => {
  const engine = await createEngine({ store: memory(), procedures: [refund, long], logger: silent })
  const pawl = createServer({ client: engine, auth: byToken, basePath: '/pawl', logger: silent })
  const { url, close } = await (frameworks[name] as (typeof frameworks)[string])(pawl)
  const call = (path: string, init: RequestInit = {}, token = 'root') =>
    fetch(`${url}/pawl/v1${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    })

  expect((await call('/me', {}, 'wrong')).status).toBe(401)
  const body = JSON.stringify({ procedure: 'refund', input: { amount: 45 }, id: 'refund:1' })
  expect((await call('/runs', { method: 'POST', body })).status).toBe(201)

  const cut = new AbortController()
  const stream = await call('/runs/refund:1/events', { signal: cut.signal })
  expect(stream.headers.get('content-type')).toBe('text/event-stream')
  const types: string[] = []
  for await (const { data } of readFrames(stream)) {
    types.push(data.type)
    if (data.type !== 'asked') continue
    const ask = await engine.inbox.next({ run: 'refund:1' })
    const answer = JSON.stringify({ approved: true })
    const path = `/asks/${encodeURIComponent(ask.id)}/answer`
    expect((await call(path, { method: 'POST', body: answer }, 'ana')).status).toBe(200)
  }
  expect([types[0], types.at(-1)]).toEqual(['started', 'ended'])
  expect((await call('/runs/refund:1', { method: 'DELETE' })).status).toBe(200)

  // A reader that goes ends its stream; one that stays is ended by `stop`.
  const gone = await call('/events', { signal: cut.signal })
  expect(gone.status).toBe(200)
  cut.abort()
  const stays = await call('/events')
  await pawl.stop()
  for await (const _ of readFrames(stays)) void _
  await close()
  await engine.stop()
})

async function mountedOn(server: NodeServer, mustListen = false): Promise<Mounted> {
  if (mustListen) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: urlOf(server),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function urlOf(server: NodeServer): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
