import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Site } from './site.ts'

/** A proxy between the browser and a site, which can do to streams what proxies and sleeping networks do. */
export interface Proxy extends AsyncDisposable {
  readonly url: string
  /** Requests so far, as `GET /v1/me`. */
  readonly requests: readonly string[]
  /** All that streams have sent to the browser. */
  readonly received: string
  /** Streams that are open now. */
  readonly streams: number
  /** 'pass': as they come. 'hold': neither headers nor content arrive, as behind a proxy that buffers. */
  mode: 'pass' | 'hold'
  /** Nothing of the streams that are open now arrives any more, and neither side is told. */
  cut(): void
}

export async function startProxy(site: Site): Promise<Proxy> {
  const target = new URL(site.url)
  const open = new Set<{ isCut: boolean }>()
  const requests: string[] = []
  const received: string[] = []
  const state = { mode: 'pass' as Proxy['mode'] }
  const forward = (from: IncomingMessage, to: ServerResponse): void => {
    requests.push(`${from.method} ${from.url}`)
    const onward = request(
      {
        host: target.hostname,
        port: target.port,
        method: from.method,
        path: from.url,
        headers: { ...from.headers, host: from.headers.host },
      },
      (reply) => {
        const isStream = reply.headers['content-type'] === 'text/event-stream'
        if (!isStream) {
          to.writeHead(reply.statusCode ?? 500, reply.headers)
          reply.pipe(to)
          return
        }
        const stream = { isCut: state.mode === 'hold' }
        open.add(stream)
        to.on('close', () => open.delete(stream))
        if (!stream.isCut) to.writeHead(200, reply.headers)
        reply.on('data', (chunk) => {
          if (!stream.isCut) to.write(chunk, () => received.push(String(chunk)))
        })
        reply.on('end', () => !stream.isCut && to.end())
        reply.on('error', () => to.destroy())
      },
    )
    onward.on('error', () => to.destroy())
    to.on('close', () => onward.destroy())
    from.pipe(onward)
  }
  const server = createServer(forward)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/`,
    requests,
    get received() {
      return received.join('')
    },
    get streams() {
      return open.size
    },
    get mode() {
      return state.mode
    },
    set mode(mode) {
      state.mode = mode
    },
    cut() {
      for (const stream of open) stream.isCut = true
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
