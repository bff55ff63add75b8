// An engine with a server, whose step is under way while requests come. It is told by messages what to do, and tells how long
// its event loop was held. Arguments: the file of the store, and the folder of the ledger.
import { createServer as createHttp } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { createEngine, procedure, ref } from '@pawl/core'
import { createServer, webhooks } from '@pawl/server'
import { slack } from '@pawl/slack'
import { z } from 'zod'
import { type FromServer, leaseOf, type ToServer } from '../support/loop/messages.ts'
import { attacked, countBegins, holding, ledgerIn, schemas } from '../support/loop/procedures.ts'
import { sqliteStore } from '../support/sqlite.ts'

const [file = '', folder = ''] = process.argv.slice(2)
// The process that started this one has ended.
process.on('disconnect', () => process.exit())

const ledger = ledgerIn(folder)
const holdingStep = holding(ledger)
const silent = { debug() {}, info() {}, warn() {}, error() {} }
const untyped = procedure({ name: 'untyped', input: z.unknown() }, async () => {})
const hooks = webhooks({ keys: ['k'.repeat(32)], allowPrivate: true })
const engine = await createEngine({
  store: sqliteStore(file),
  procedures: [holdingStep, ...attacked],
  plugins: [hooks],
  lease: leaseOf,
  logger: silent,
})
const server = createServer({
  client: engine,
  hooks,
  logger: silent,
  procedures: attacked,
  links: { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] },
  // Each request is of another person, so that none is refused for their number.
  auth: (request) => ({ actor: `user:${request.headers.get('x-person')}`, names: [], role: 'admin' }),
})
const { url } = await server.listen({ port: 0 })
// The handler of Slack is public: it reads requests of anyone.
const chat = slack({ token: 'xoxb-1', signingSecret: 's', channelOf: () => undefined, person: () => null })
const open = createHttp((request, response) => {
  const body = Readable.toWeb(request) as ReadableStream
  const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
    name,
    String(value),
  ])
  const received = new Request('http://127.0.0.1/slack', { method: 'POST', headers, body, duplex: 'half' })
  void chat.handle(received).then(({ status }) => {
    response.writeHead(status).end()
    request.destroy()
  })
})
await new Promise<void>((resolve) => open.listen(0, '127.0.0.1', resolve))
const slackUrl = `http://127.0.0.1:${(open.address() as AddressInfo).port}`
await engine.run(holdingStep, undefined, { id: 'holding' })
for (const { name } of attacked)
  await engine.run(ref<typeof untyped>(name), name === 'taking' ? { items: [] } : undefined, { id: name })

const delay = monitorEventLoopDelay({ resolution: 5 })
delay.enable()
let used = process.cpuUsage()
process.on('message', (message: ToServer) => {
  switch (message.do) {
    case 'forget':
      used = process.cpuUsage()
      delay.reset()
      // The first interval after a reset is not noted.
      return void pause(20).then(() => tell({ heldMs: 0, busyMs: 0 }))
    case 'tell':
      // The delay is noted by a timer.
      return void pause(50).then(() => tell({ heldMs: delay.max / 1e6, busyMs: busyMs() }))
    case 'validate':
      return tell({ validations: validateWholly(message.value) })
  }
})
tell({ url, slackUrl })

function busyMs(): number {
  const { user, system } = process.cpuUsage(used)
  return (user + system) / 1e3
}

function tell(message: FromServer): void {
  process.send?.(message)
}

/** What a server must not do: the schema of the author sees what nothing has checked. Ends once another process has begun the step. */
function validateWholly(value: unknown): number {
  let validations = 0
  while (countBegins(ledger) < 2) {
    schemas.union.safeParse(value)
    validations++
  }
  return validations
}
