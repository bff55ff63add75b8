import { createHmac } from 'node:crypto'
import { createServer as createReceiver, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Client, createEngine, type PluginHost, procedure, type Store } from '@pawl/core'
import { createServer, type ServerOptions, type Webhooks, webhooks } from '@pawl/server'
import { memory } from '@pawl/testing'
import { describe, expect, test } from 'vitest'
import { isPublic } from '../src/hooks/address.ts'
import { startHookReader } from '../src/hooks/reader.ts'
import { faultOf, send } from '../src/hooks/send.ts'
import { webhooksWith } from '../src/hooks/webhooks.ts'
import { byToken, send as call, dispatchOf, refund, requestOf, silent } from './support/server.ts'

const [oldKey, newKey] = ['o'.repeat(32), 'n'.repeat(32)]
const soon = {
  retry: { attempts: 3, backoff: '10ms', factor: 1, jitter: 'none' },
  timeout: '10m',
  lookEveryMs: 2_000,
} as const

interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies of any shape
  readonly json: any
}

interface Reply {
  status: number
  headers: Record<string, string>
  of(one: Received): Promise<number>
}

const tell = procedure({ name: 'tell' }, async (ctx) => {
  await ctx.human.notify('Order 7 is late', { severity: 'warning', to: 'group:support' })
})

/** A receiver on loopback that replies with `status`. */
async function startReceiver() {
  const received: Received[] = []
  const reply: Reply = { status: 204, headers: {}, of: async () => reply.status }
  const server = createReceiver((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      const one = { headers: request.headers, body, json: JSON.parse(body) }
      received.push(one)
      void reply.of(one).then((status) => response.writeHead(status, reply.headers).end())
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return {
    ...{ url, received, reply },
    ids: () => received.map(({ headers }) => headers['webhook-id']),
    types: () => received.map(({ json }) => json.type as string),
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Starts and stops to follow the feed by hand, while the engine of the webhooks works. */
function byHand({ name, procedures }: Webhooks) {
  let given: { readonly client: Client; readonly host: PluginHost } | undefined
  return {
    plugin: {
      ...{ name, procedures },
      start(client: Client, host: PluginHost) {
        given = { client, host }
      },
    },
    startReading() {
      const { client, host } = given!
      const stopping = new AbortController()
      const stops: (() => Promise<void>)[] = []
      const follow: PluginHost['follow'] = (...args) => {
        const stop = host.follow(...args)
        stops.push(stop)
        return stop
      }
      const own = { ...host, follow, signal: stopping.signal }
      const { ended } = startHookReader({ client, host: own, everyMs: 10 })
      return {
        async stop() {
          stopping.abort()
          await ended
          await Promise.all(stops.map((stop) => stop()))
        },
      }
    },
  }
}

interface SceneOptions {
  readonly store?: Store
  readonly keys?: [string, ...string[]]
  readonly timeout?: '50ms'
  /** Whether the feed is followed only after `startReading`. */
  readonly isReadByHand?: boolean
}

async function startScene(options: SceneOptions = {}) {
  const { store = memory(), keys = [newKey], timeout = soon.timeout, isReadByHand = false } = options
  const receiver = await startReceiver()
  const hooks = webhooksWith({ keys, allowPrivate: true }, { ...soon, timeout })
  const { plugin, startReading } = byHand(hooks)
  const engine = await createEngine({
    store,
    procedures: [refund, tell],
    plugins: [isReadByHand ? plugin : hooks],
    logger: silent,
  })
  const server = createServer({ client: engine, auth: byToken, hooks, logger: silent })
  const ask = (method: string, path: string, body?: object, as = 'root') =>
    call(server.fetch, as, method, path, body)
  return {
    ...{ engine, server, receiver, ask, startReading },
    /** Registers the receiver, and waits until its run is listed. */
    async register(body: object = {}): Promise<{ readonly id: string; readonly secret: string }> {
      const made = await ask('POST', '/v1/hooks', { url: receiver.url, ...body })
      expect(made.status).toBe(201)
      const { hook, secret } = made.body
      await expect.poll(async () => (await ask('GET', '/v1/hooks')).body.items).toContainEqual(hook)
      return { id: hook.id, secret }
    },
    async [Symbol.asyncDispose]() {
      await server.stop()
      await engine.stop()
      await receiver.close()
    },
  }
}

async function refundOnce(engine: Client, id: string): Promise<string> {
  const run = await engine.run(refund, { amount: 45 }, { id })
  const ask = await engine.inbox.next({ run: id })
  await engine.inbox.answer(ask.id, { approved: true }, { as: 'user:ana' })
  await run.result()
  return ask.id
}

function signatureOf(secret: string, { headers, body }: Received): string {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signed = [headers['webhook-id'], headers['webhook-timestamp'], body].join('.')
  return `v1,${createHmac('sha256', key).update(signed).digest('base64')}`
}

describe('webhooks', () => {
  test('each event of an ask and a run is delivered, signed as Standard Webhooks and without values', async () => {
    await using s = await startScene()
    const { secret } = await s.register()
    const ask = await refundOnce(s.engine, 'refund:1')
    await expect.poll(s.receiver.types).toHaveLength(3)
    expect(s.receiver.types().toSorted()).toEqual(['ask.closed', 'ask.opened', 'run.ended'])
    for (const one of s.receiver.received) {
      expect(one.headers['webhook-signature']).toBe(signatureOf(secret, one))
      expect(Math.abs(Number(one.headers['webhook-timestamp']) * 1000 - Date.now())).toBeLessThan(600_000)
      expect(one.headers['content-type']).toBe('application/json')
      expect(one.body).not.toMatch(/params|amount/)
    }
    const opened = s.receiver.received.find(({ json }) => json.type === 'ask.opened')
    expect(opened?.json.data.ask).toMatchObject({
      id: ask,
      run: 'refund:1',
      procedure: 'refund',
      kind: 'approve',
    })
    const delivery = await s.engine.get(String(opened?.headers['webhook-id'])).status()
    expect(delivery).toMatchObject({ procedure: 'pawl.deliver', status: 'completed' })
    const listed = async (query: string) => (await s.ask('GET', `/v1/runs${query}`)).body.items.length
    expect([await listed(''), await listed('?procedure=pawl.deliver')]).toEqual([1, 3])
  })

  test.each([
    ['without its message', { include: 'ids' }, {}],
    ['with its message', { include: 'full' }, { message: 'Order 7 is late', to: ['group:support'] }],
  ])('a notice is delivered once, %s', async (_, include, more) => {
    await using s = await startScene()
    await s.register({ events: ['notice'], ...include })
    await (await s.engine.run(tell, undefined, { id: 'order:7' })).result()
    await (await s.engine.run(tell, undefined, { id: 'order:8' })).result()
    await expect.poll(s.receiver.types).toEqual(['notice', 'notice'])
    const notices = s.receiver.received.map(({ json }) => json.data.notice)
    const known = { procedure: 'tell', kind: 'notice', severity: 'warning', ...more }
    for (const run of ['order:7', 'order:8']) {
      const [listed] = (await s.engine.inbox.notices({ run })).items
      expect(notices).toContainEqual(
        include.include === 'full'
          ? expect.objectContaining({ id: listed?.id, run, ...known })
          : { id: listed?.id, run, ...known },
      )
    }
  })

  test('a hook receives only the events it names, in full if it asks for that', async () => {
    await using s = await startScene()
    await s.register({ events: ['ask.closed'], include: 'full' })
    await refundOnce(s.engine, 'refund:1')
    await refundOnce(s.engine, 'refund:2')
    await expect.poll(s.receiver.types).toEqual(['ask.closed', 'ask.closed'])
    expect(s.receiver.received[0]?.json.data.ask).toMatchObject({
      params: { amount: 45 },
      answer: { by: 'user:ana' },
    })
  })

  test('a delivery is retried with the same id until the receiver accepts it', async () => {
    await using s = await startScene()
    s.receiver.reply.status = 500
    await s.register({ events: ['run.ended'] })
    await refundOnce(s.engine, 'refund:1')
    await expect.poll(() => s.receiver.received.length).toBeGreaterThan(0)
    s.receiver.reply.status = 200
    await expect
      .poll(
        async () => (await s.engine.list({ procedure: 'pawl.deliver', status: 'completed' })).items.length,
      )
      .toBe(1)
    expect(new Set(s.receiver.ids()).size).toBe(1)
    expect(s.receiver.received.length).toBeGreaterThan(1)
  })

  test('a receiver that does not reply in time is asked again', async () => {
    await using s = await startScene({ timeout: '50ms' })
    s.receiver.reply.of = () => new Promise(() => {})
    const { id } = await s.register({ events: ['run.ended'] })
    await refundOnce(s.engine, 'refund:1')
    const ask = await s.engine.inbox.next({ run: `pawl.hook:${id}` })
    expect(ask.message).toMatch(/failed for good: .*did not finish within 50ms/)
    expect(new Set(s.receiver.ids()).size).toBe(1)
    expect(s.receiver.received.length).toBe(3)
  })

  test('with two keys a delivery carries a signature of each', async () => {
    await using s = await startScene({ keys: [newKey, oldKey] })
    const { secret, id } = await s.register({ events: ['run.ended'] })
    await refundOnce(s.engine, 'refund:1')
    await expect.poll(s.receiver.types).toHaveLength(1)
    const [one] = s.receiver.received
    const mac = createHmac('sha256', oldKey).update(`pawl hook ${id}`).digest('base64')
    const signatures = String(one?.headers['webhook-signature']).split(' ')
    expect(signatures).toEqual([signatureOf(secret, one!), signatureOf(`whsec_${mac}`, one!)])
  })

  test.each([
    ['stays down', 503, /failed for good: .*status 503/],
    ['is gone', 410, /status 410/],
  ])(
    'a hook that %s is switched off and escalated, and switched on it gets what it has missed',
    async (_, status, reason) => {
      await using s = await startScene()
      const { id } = await s.register({ events: ['run.ended'] })
      s.receiver.reply.status = status
      // Several deliveries fail, and each of them says that the hook is down.
      for (const run of ['refund:1', 'refund:2', 'refund:3']) await refundOnce(s.engine, run)
      const ask = await s.engine.inbox.next({ run: `pawl.hook:${id}` })
      expect(ask.message).toMatch(reason)
      expect(ask).toMatchObject({ kind: 'escalate', to: ['user:root'] })
      expect((await s.ask('GET', '/v1/hooks')).body.items).toMatchObject([{ id, isOn: false }])
      const ended = async () =>
        (await s.engine.list({ procedure: 'pawl.deliver', status: ['failed', 'completed'] })).items
      await expect.poll(async () => (await ended()).length).toBeGreaterThan(2)

      s.receiver.reply.status = 204
      await refundOnce(s.engine, 'refund:4')
      await s.engine.inbox.answer(ask.id, { choice: 'switch-on' }, { as: 'user:root' })
      const told = () => s.receiver.received.map(({ json }) => json.data.run.id)
      await expect.poll(told).toContain('refund:4')
      // The old failures are read again, and no longer count.
      await refundOnce(s.engine, 'refund:5')
      await expect.poll(told).toContain('refund:5')
      expect((await s.ask('GET', '/v1/hooks')).body.items).toMatchObject([{ id, isOn: true }])
      expect(s.receiver.types().every((type) => type === 'run.ended')).toBe(true)
    },
  )

  test('a delivery that fails for good switches no hook off that has received others since', async () => {
    await using s = await startScene()
    const { id } = await s.register({ events: ['run.ended'] })
    const runOf = ({ json }: Received): string => json.data.run.id
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    s.receiver.reply.of = async (one) => {
      if (runOf(one) !== 'refund:1') return 200
      await gate
      return 500
    }
    await refundOnce(s.engine, 'refund:1')
    await refundOnce(s.engine, 'refund:2')
    const ended = async (status: 'completed' | 'failed') =>
      (await s.engine.list({ procedure: 'pawl.deliver', status })).items.length
    await expect.poll(() => ended('completed')).toBe(1)
    open()
    await expect.poll(() => ended('failed')).toBe(1)
    // The reader takes the events in order: with this delivery it has seen the end of the failed one.
    await refundOnce(s.engine, 'refund:3')
    await expect.poll(() => s.receiver.received.map(runOf)).toContain('refund:3')
    expect((await s.ask('GET', '/v1/hooks')).body.items).toMatchObject([{ id, isOn: true }])
  })

  test('a delivery that failed before the hook was switched on does not switch it off again', async () => {
    await using s = await startScene({ isReadByHand: true })
    const first = s.startReading()
    const { id } = await s.register({ events: ['run.ended'] })
    const runOf = ({ json }: Received): string => json.data.run.id
    let open = (): void => {}
    const gate = new Promise<void>((resolve) => {
      open = resolve
    })
    s.receiver.reply.of = async (one) => {
      if (runOf(one) === 'refund:2') await gate
      return runOf(one) === 'refund:3' ? 204 : 503
    }
    await refundOnce(s.engine, 'refund:2')
    await expect.poll(() => s.receiver.received.map(runOf)).toContain('refund:2')
    await refundOnce(s.engine, 'refund:1')
    const ask = await s.engine.inbox.next({ run: `pawl.hook:${id}` })
    await first.stop()
    open()
    const failed = async () => (await s.engine.list({ procedure: 'pawl.deliver', status: 'failed' })).items
    await expect.poll(async () => (await failed()).length).toBe(2)
    await s.engine.inbox.answer(ask.id, { choice: 'switch-on' }, { as: 'user:root' })
    await refundOnce(s.engine, 'refund:3')
    const second = s.startReading()
    await expect.poll(() => s.receiver.received.map(runOf)).toContain('refund:3')
    await second.stop()
    expect((await s.engine.inbox.list({ run: `pawl.hook:${id}` })).items).toEqual([])
  })

  test('a deleted hook receives nothing any more, and is listed no more', async () => {
    await using s = await startScene()
    const { id } = await s.register()
    expect((await s.ask('DELETE', `/v1/hooks/${id}`)).status).toBe(200)
    await expect.poll(async () => (await s.ask('GET', '/v1/hooks')).body.items).toEqual([])
    expect((await s.ask('POST', `/v1/hooks/${id}/test`, {})).status).toBe(404)
    expect((await s.ask('DELETE', '/v1/hooks/none')).status).toBe(404)
  })

  test('a test sends a ping, and the log of its run says how it went', async () => {
    await using s = await startScene()
    const { id, secret } = await s.register()
    const { status, body } = await s.ask('POST', `/v1/hooks/${id}/test`, {})
    expect(status).toBe(202)
    expect(await s.engine.get(body.run).result()).toBe('delivered')
    await expect.poll(s.receiver.types).toEqual(['ping'])
    expect(s.receiver.received[0]?.headers['webhook-signature']).toBe(
      signatureOf(secret, s.receiver.received[0]!),
    )
  })

  test('two engines on one store start each delivery once', async () => {
    const store = memory()
    await using s = await startScene({ store })
    const hooks = webhooksWith({ keys: [newKey], allowPrivate: true }, soon)
    const second = await createEngine({ store, procedures: [], plugins: [hooks], logger: silent })
    await s.register({ events: ['run.ended'] })
    for (let n = 0; n < 5; n += 1) await refundOnce(s.engine, `refund:${n}`)
    await expect.poll(() => new Set(s.receiver.ids()).size).toBe(5)
    await second.stop()
    expect((await s.engine.list({ procedure: 'pawl.deliver' })).items).toHaveLength(5)
  })

  test('a reader that starts later delivers what happened before it', async () => {
    await using s = await startScene({ isReadByHand: true })
    const first = s.startReading()
    await s.register({ events: ['run.ended'] })
    await refundOnce(s.engine, 'refund:1')
    await expect.poll(s.receiver.types).toHaveLength(1)
    await first.stop()
    await refundOnce(s.engine, 'refund:2')
    await refundOnce(s.engine, 'refund:3')
    const second = s.startReading()
    await expect
      .poll(() => s.receiver.received.map(({ json }) => json.data.run.id))
      .toEqual(['refund:1', 'refund:2', 'refund:3'])
    await second.stop()
  })

  test('only admins see and change hooks, and a server without webhooks says so', async () => {
    await using s = await startScene()
    for (const as of ['ana', 'wim', 'olga'])
      for (const [method, path, body] of [
        ['GET', '/v1/hooks'],
        ['POST', '/v1/hooks', { url: s.receiver.url }],
        ['DELETE', '/v1/hooks/some'],
        ['POST', '/v1/hooks/some/test', {}],
      ] as const)
        expect((await s.ask(method, path, body, as)).status).toBe(403)
    const { dispatch } = dispatchOf({ client: s.engine, auth: byToken })
    expect((await dispatch(requestOf('root', 'GET', '/v1/hooks'))).status).toBe(404)
  })

  test('an address that is not public is refused when it is registered', async () => {
    const engine = await createEngine({ store: memory(), procedures: [], logger: silent })
    const hooks = webhooks({ keys: [newKey] })
    const server = createServer({ client: engine, auth: byToken, hooks, logger: silent })
    for (const url of [
      'http://example.com/',
      'https://127.0.0.1/',
      'https://2130706433/',
      'https://[::1]/',
      'nonsense',
    ])
      expect((await call(server.fetch, 'root', 'POST', '/v1/hooks', { url })).status).toBe(400)
    await server.stop()
    await engine.stop()
  })
})

const closed = [
  ...['127.0.0.1', '0.0.0.0', '10.1.2.3', '172.16.0.1', '172.31.255.255', '192.168.1.1', '169.254.169.254'],
  ...['100.64.0.1', '192.0.2.1', '198.18.0.1', '224.0.0.1', '255.255.255.255'],
  ...['::', '::1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', 'fe80::1', 'fc00::1', 'ff02::1', '64:ff9b::a00:1'],
  ...['2001:db8::1', '2002:a00:1::', '2001:0:1::1', 'nonsense'],
]

test('private and special addresses are not public', () => {
  expect(closed.filter(isPublic)).toEqual([])
  expect(
    ['8.8.8.8', '172.32.0.1', '1.1.1.1', '2606:4700:4700::1111'].filter((one) => !isPublic(one)),
  ).toEqual([])
})

test.each([
  'https://127.0.0.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://[::ffff:127.0.0.1]/',
  'https://169.254.169.254/latest',
  'http://example.com/',
  'https://user:secret@example.com/',
  'ftp://example.com/',
])('the address %s is refused', (url) => {
  expect(faultOf(url, false)).not.toBeNull()
})

test('a name that resolves to loopback is refused before a connection is made', async () => {
  const receiver = await startReceiver()
  const url = receiver.url.replace('http:', 'https:').replace('127.0.0.1', 'localhost')
  const sent = send({
    url,
    headers: {},
    body: '{}',
    allowPrivate: false,
    signal: new AbortController().signal,
  })
  await expect(sent).rejects.toMatchObject({ name: 'FinalError', code: 'hook-refused' })
  expect(receiver.received).toEqual([])
  await receiver.close()
})

test('a redirect is not followed', async () => {
  const [from, to] = [await startReceiver(), await startReceiver()]
  Object.assign(from.reply, { status: 307, headers: { location: to.url } })
  const { signal } = new AbortController()
  await expect(send({ url: from.url, headers: {}, body: '{}', allowPrivate: true, signal })).rejects.toThrow(
    'status 307',
  )
  expect(to.received).toEqual([])
  await Promise.all([from.close(), to.close()])
})

test('createServer refuses hooks that webhooks() has not made, and a function as client', async () => {
  const engine = await createEngine({ store: memory(), procedures: [], logger: silent })
  const hooks = webhooks({ keys: [newKey] })
  expect(() =>
    createServer({
      client: engine,
      hooks: { name: 'webhooks', procedures: hooks.procedures },
    } as ServerOptions),
  ).toThrow(/hooks/)
  expect(() => createServer({ client: () => engine, hooks })).toThrow(/hooks/)
  expect(() => webhooks({ keys: ['short'] })).toThrow(/32 characters/)
  await engine.stop()
})
