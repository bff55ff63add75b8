import { createEngine, type Engine, type EngineOptions } from '@pawl/core'
import { createServer, type Identity, type ServerOptions } from '@pawl/server'
import { memory } from '@pawl/testing'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { broken, procedures, refund, ship, shipBefore } from './asks.ts'
import { postByPlan } from './plan.ts'

/** Each logs in with the own name as the key. */
const people: Readonly<Record<string, Identity>> = {
  ana: { actor: 'user:ana', names: ['group:support', 'group:office'], role: 'operate' },
  bob: { actor: 'user:bob', names: [], role: 'admin' },
  kim: { actor: 'user:kim', names: ['group:support'], role: 'answer' },
  wim: { actor: 'user:wim', names: [], role: 'watch' },
}

/** A running engine with the server in front of it, as a browser sees them. */
export interface Site extends AsyncDisposable {
  readonly engine: Engine
  readonly url: string
}

export async function startSite(
  options: {
    readonly procedures?: EngineOptions['procedures']
    readonly port?: number
    readonly may?: ServerOptions['may']
  } = {},
): Promise<Site> {
  const store = memory()
  if (options.procedures?.includes(ship) !== false) await startBefore(store)
  const engine = await createEngine({
    store,
    procedures: options.procedures ?? [...procedures, broken, ship, postByPlan],
    logger: silent,
  })
  const server = createServer({
    client: engine,
    ...(options.may === undefined ? {} : { may: options.may }),
    auth: (request) => {
      const given = `${request.headers.get('authorization')}; ${request.headers.get('cookie')}`
      const name = /(?:^Bearer |pawl=)(\w+)/.exec(given)?.[1]
      return (name !== undefined && people[name]) || null
    },
  })
  const { url } = await server.listen({ port: options.port ?? 0 })
  return {
    engine,
    url,
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
    },
  }
}

/** Starts a run that the code of the site cannot continue. */
async function startBefore(store: EngineOptions['store']): Promise<void> {
  const engine = await createEngine({ store, procedures: [shipBefore], logger: silent })
  const run = await engine.run(shipBefore, undefined, { id: 'ship:7', by: 'user:shop', tags: ['eu'] })
  await engine.inbox.next({ run: run.id })
  await engine.stop()
}

const silent = { debug() {}, info() {}, warn() {}, error() {} }

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** What the browser reported: errors of scripts, refusals of the CSP. */
  readonly complaints: readonly string[]
  /** Requests to another origin. */
  readonly foreign: readonly string[]
}

/** Opens a page in a browser profile of its own, and waits until the inbox shows a screen. */
export async function visit(
  browser: Browser,
  site: Pick<Site, 'url'>,
  as: string,
  at = '#/',
  options: BrowserContextOptions = {},
): Promise<Visit> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  context.setDefaultTimeout(60_000)
  const page = await context.newPage()
  const complaints: string[] = []
  const foreign: string[] = []
  page.on('pageerror', (error) => complaints.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  page.on('request', (request) => {
    const target = new URL(request.url())
    if (target.protocol !== 'data:' && target.origin !== new URL(site.url).origin) foreign.push(request.url())
  })
  await page.goto(`${site.url}#key=${as}`)
  await page.getByRole('navigation').waitFor()
  if (at !== '#/') await page.evaluate(`location.hash = ${JSON.stringify(at)}`)
  return {
    page,
    complaints,
    foreign,
    async [Symbol.asyncDispose]() {
      await context.close()
    },
  }
}

/** Starts one run of each procedure that asks, one that is answered and one that is stuck. Returns the ids of the asks by procedure. */
export async function askAll({ engine }: Site): Promise<Readonly<Record<string, string>>> {
  const ids: [string, string][] = []
  for (const one of procedures) {
    const input = one.name === 'refund' ? { orderId: 'A-1', amount: 450 } : undefined
    const id = one.name === 'refund' ? 'refund:A-1' : `${one.name}:7`
    const run = await engine.run(one, input as never, { id, by: 'user:shop' })
    ids.push([one.name, (await engine.inbox.next({ run: run.id })).id])
  }
  const settled = await engine.run(refund, { orderId: 'B-2', amount: 80 }, { id: 'refund:B-2' })
  const { id } = await engine.inbox.next({ run: settled.id })
  await engine.inbox.answer(id, { approved: true, params: { amount: 60 } }, { as: 'user:bob' })
  await settled.result()
  const stuck = await engine.run(broken, undefined, { id: 'broken:7' })
  await stuck.result().catch(() => {})
  const { id: handOver } = await engine.inbox.next({ run: 'ship:7' })
  await engine.inbox.answer(handOver, { approved: true }, { as: 'user:bob' })
  await engine
    .get('ship:7')
    .result()
    .catch(() => {})
  return Object.fromEntries(ids)
}
