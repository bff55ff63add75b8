import { readFile } from 'node:fs/promises'
import { createServer as createNodeServer } from 'node:http'
import { fileURLToPath } from 'node:url'
import { createServer, tokens, toNode } from '@pawl/server'
import type { Person } from './people.ts'
import type { Story } from './story.ts'

export interface Site {
  /** Where the person with this key logs in. */
  urlOf(person: Person, host?: 'localhost' | '127.0.0.1'): string
  stop(): Promise<void>
}

interface SiteOptions {
  readonly story: Story
  readonly tokenFile: string
  /** 0 picks a free one. */
  readonly port: number
  readonly bob: Person
}

/**
 * Serves the API and the inbox, and puts the strip with the buttons of the demo above the inbox. The strip is one script and one
 * style sheet from the same origin, so that the page keeps its strict CSP.
 */
export async function openSite({ story, tokenFile, port, bob }: SiteOptions): Promise<Site> {
  const pawl = createServer({ client: story.client, auth: tokens(tokenFile) })
  const files = new Map([
    ['/demo/strip.js', { type: 'text/javascript', body: await readPageFile('strip.js') }],
    ['/demo/strip.css', { type: 'text/css', body: await readPageFile('strip.css') }],
  ])
  const handle = async (request: Request): Promise<Response> => {
    const { pathname } = new URL(request.url)
    const file = files.get(pathname)
    if (file !== undefined) return reply(file.body, file.type)
    if (pathname === '/') return withStrip(await pawl.fetch(request))
    if (!pathname.startsWith('/demo/')) return pawl.fetch(request)
    // The server of Pawl checks host and login; a refusal is passed on.
    const me = new Request(new URL('/v1/me', request.url), { headers: request.headers })
    const checked = await pawl.fetch(me)
    if (!checked.ok) return checked
    return callDemo(story, request, { name: bob.name, url: urlOf(bob, 'localhost') })
  }
  const server = createNodeServer(toNode({ fetch: handle }))
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  const bound = typeof address === 'object' && address !== null ? address.port : port
  function urlOf({ key }: Person, host = '127.0.0.1'): string {
    return `http://${host}:${bound}/#key=${key}`
  }
  return {
    urlOf,
    async stop() {
      await pawl.stop()
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function callDemo(story: Story, request: Request, second: object): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (request.method === 'GET' && pathname === '/demo/state')
    return reply(JSON.stringify({ ...(await story.look()), second }), 'application/json')
  if (request.method !== 'POST') return reply('There is nothing at this path.', 'text/plain', 404)
  if (!isOwn(request)) return reply('Only the page of the demo may do this.', 'text/plain', 403)
  if (pathname === '/demo/kill') await story.worker.kill()
  else if (pathname === '/demo/start') await story.startWorker()
  else return reply('There is nothing at this path.', 'text/plain', 404)
  return new Response(null, { status: 204 })
}

/** Whether a write comes from this page or from a program, and not from a page of another site. */
function isOwn({ headers }: Request): boolean {
  const origin = headers.get('origin')
  const isJson = headers.get('content-type') === 'application/json'
  return isJson && (origin === null || origin === `http://${headers.get('host')}`)
}

/** The page of the inbox with the two files of the strip; its headers stay as they are. */
async function withStrip(page: Response): Promise<Response> {
  if (!page.headers.get('content-type')?.startsWith('text/html')) return page
  const tags =
    '<link rel="stylesheet" href="/demo/strip.css"><script type="module" src="/demo/strip.js"></script>'
  return new Response((await page.text()).replace('</head>', `${tags}</head>`), page)
}

function reply(body: string, type: string, status = 200): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': `${type}; charset=utf-8`,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    },
  })
}

function readPageFile(name: string): Promise<string> {
  return readFile(fileURLToPath(import.meta.resolve(`@pawl/example-refund/page/${name}`)), 'utf8')
}
