import type { IncomingMessage, Server as NodeServer, ServerResponse } from 'node:http'
import { createAdaptorServer, getRequestListener } from '@hono/node-server'
import { localKey } from './auth/local.ts'
import { bindChannels } from './auth/rights.ts'
import { createDispatch } from './dispatch.ts'
import { noteAddress } from './http/address.ts'
import { RateLimit } from './http/limits.ts'
import { ReplyCounts } from './http/replies.ts'
import { readOptions, refusal, refuse } from './options.ts'
import { usualTiming } from './streams/event-stream.ts'
import { OpenStreams } from './streams/open-streams.ts'
import type { NodeHandler, Server, ServerOptions } from './types.ts'

const loopback: readonly string[] = ['127.0.0.1', '::1', 'localhost']

/**
 * Makes the HTTP server of a client or engine. It is closed by default: it listens on 127.0.0.1, and asks for a key even there.
 * @throws PawlError 'option-invalid'
 * @example
 * const pawl = createServer({ client: engine, auth: tokens('tokens.json'), basePath: '/pawl' })
 * app.mount('/pawl', pawl.fetch)      // Hono
 * export const GET = pawl.fetch        // Next.js, likewise POST and DELETE
 */
export function createServer(options: ServerOptions): Server {
  const settings = readOptions(options)
  const stopping = new AbortController()
  const unbindChannels = bindChannels(options.client, settings)
  const fetch = createDispatch({
    settings,
    reads: new RateLimit(600, Date.now),
    writes: new RateLimit(120, Date.now),
    failures: new RateLimit(10, Date.now),
    streams: new OpenStreams(),
    replies: new ReplyCounts(),
    timing: usualTiming,
    now: Date.now,
    report: (id, error) => settings.logger.error(`Request ${id} failed`, { error }),
    stopping: stopping.signal,
  })
  const listening = new Set<NodeServer>()
  return {
    fetch,
    async listen({ port = 4747, host = '127.0.0.1' } = {}) {
      const key = localKey(settings.auth)
      if (!loopback.includes(host) && key !== undefined)
        refuse('host', host, 'An address that others reach requires `auth`, such as `auth: tokens(file)`.')
      if (!Number.isInteger(port) || port < 0 || port > 65_535)
        refuse('port', String(port), 'It must be a whole number from 0 to 65535; 0 chooses a free port.')
      const server = createAdaptorServer({ fetch: withAddress(fetch) }) as NodeServer
      await new Promise<void>((resolve, reject) => {
        server.once('error', (error) => reject(explain(error, host, port)))
        server.listen(port, host, () => resolve())
      })
      listening.add(server)
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      const name = host.includes(':') ? `[${host}]` : host
      const base = settings.basePath === '/' ? '' : settings.basePath
      return { url: `http://${name}:${bound}${base}/${key === undefined ? '' : `#key=${key}`}` }
    },
    async stop() {
      stopping.abort()
      unbindChannels()
      await Promise.all([...listening].map(close))
    },
  }
}

/** A port or an address that cannot be listened on is a mistake in the options. */
function explain(error: NodeJS.ErrnoException, host: string, port: number): Error {
  switch (error.code) {
    case 'EADDRINUSE':
      return refusal(
        'port',
        `${port}`,
        'Another program listens there. Choose another port, or 0 for a free one.',
      )
    case 'EACCES':
      return refusal('port', `${port}`, 'This user may not listen there. Choose a port from 1024.')
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return refusal('host', host, 'It must be an address of this machine.')
    default:
      return error
  }
}

/** Pending requests have a second to end. */
async function close(server: NodeServer): Promise<void> {
  const timer = setTimeout(() => server.closeAllConnections(), 1000)
  await new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
  clearTimeout(timer)
}

/**
 * Makes a handler for Express, Fastify or `node:http`. Mount it before body parsers.
 * @example app.use('/pawl', toNode(pawl))
 */
export function toNode(server: Pick<Server, 'fetch'>): NodeHandler {
  const listener = getRequestListener(withAddress(server.fetch))
  return (request, response) => void listener(request, response)
}

interface NodeBindings {
  readonly incoming?: IncomingMessage
  readonly outgoing?: ServerResponse
}

function withAddress(fetch: Server['fetch']) {
  return (request: Request, bindings: unknown): Promise<Response> => {
    noteAddress(request, (bindings as NodeBindings | undefined)?.incoming?.socket.remoteAddress)
    return fetch(request)
  }
}
