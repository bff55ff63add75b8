import { type Client, createClient, PawlError } from '@pawl/core'
import { createServer, local, proxyHeader } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { noteAddress } from '../src/http/address.ts'
import { byToken, dispatchOf, requestOf, send, silent, startServer } from './support/server.ts'

test('listens on 127.0.0.1 behind a key, which login turns into a cookie', async () => {
  const client = createClient({ store: memory() })
  const server = createServer({ client })
  const { url } = await server.listen({ port: 0 })
  const { origin, hash } = new URL(url)
  const key = hash.replace('#key=', '')
  expect(await (await fetch(`${origin}/v1/me`)).json()).toMatchObject({ code: 'login-needed', status: 401 })
  const login = await fetch(`${origin}/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  })
  expect(login.status).toBe(200)
  const cookie = login.headers.get('set-cookie') ?? ''
  expect(cookie).toMatch(/^pawl=.*; HttpOnly; SameSite=Strict$/)
  const me = await fetch(`${origin}/v1/me`, { headers: { cookie: cookie.split(';')[0] ?? '' } })
  expect(await me.json()).toMatchObject({ role: 'admin' })
  await server.stop()
  await client.stop()
})

test.each(['Bearer a b', 'Bearer ', 'Bearer'])(
  'a bearer token that cannot be read does not let a listed origin write with the cookie: %s',
  async (authorization) => {
    const origin = 'https://desk.example'
    const client = createClient({ store: memory() })
    const { dispatch } = dispatchOf({ client, auth: byToken, origins: [origin] })
    const write = (headers: object) =>
      dispatch(requestOf(null, 'POST', '/v1/runs', { procedure: 'refund', input: {} }, headers))
    const cookie = 'pawl=olga'
    const reply = await write({ origin, cookie, authorization })
    expect([401, 403]).toContain(reply.status)
    // From no page, the cookie is no substitute either.
    expect((await write({ cookie, authorization })).status).toBe(401)
    await client.stop()
  },
)

test('refuses to listen on another address without auth, and names the remedy', async () => {
  const server = createServer({ client: createClient({ store: memory() }), auth: local() })
  await expect(server.listen({ port: 0, host: '0.0.0.0' })).rejects.toMatchObject({
    code: 'option-invalid',
    message: expect.stringContaining('requires `auth`'),
  })
})

test.each([
  ['a foreign host', { host: 'evil.example' }, 421, 'host-refused'],
  ['no host', { host: '' }, 421, 'host-refused'],
  ['a foreign origin', { origin: 'https://evil.example' }, 403, 'not-allowed'],
  ['a page of another site', { 'sec-fetch-site': 'cross-site' }, 403, 'not-allowed'],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 415, 'request-invalid'],
])('refuses a write from %s', async (_what, headers, status, code) => {
  await using server = await startServer()
  const body = { procedure: 'refund', input: { amount: 1 }, id: 'r:1' }
  expect(await server.call('root', 'POST', '/v1/runs', body, headers)).toMatchObject({
    status,
    body: { code },
  })
  expect((await server.engine.list()).items).toEqual([])
})

test('answers every request with the security headers', async () => {
  await using server = await startServer()
  for (const path of ['/v1/me', '/nothing', '/healthz']) {
    const { headers } = await server.call('root', 'GET', path)
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
  }
})

test('refuses failing logins of an address after ten in a minute, and no valid one', async () => {
  await using client = await openClient()
  const { dispatch } = dispatchOf({ client, auth: byToken }, { now: () => 60_000 })
  const from = async (address: string | undefined, token: string) => {
    const request = requestOf(token, 'GET', '/v1/me')
    noteAddress(request, address)
    return dispatch(request)
  }
  for (let i = 0; i < 10; i++) expect((await from('192.0.2.1', 'wrong')).status).toBe(401)
  const refused = await from('192.0.2.1', 'wrong')
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('60')
  expect((await from('192.0.2.1', 'ana')).status).toBe(200)
  expect((await from('192.0.2.2', 'wrong')).status).toBe(401)
  expect((await from(undefined, 'ana')).status).toBe(200)
})

test('counts failed logins at /login by address, also below a base path', async () => {
  await using client = await openClient()
  const { dispatch } = dispatchOf({ client, auth: byToken, basePath: '/pawl' }, { now: () => 60_000 })
  const login = async (address: string, key: string) => {
    const request = requestOf(null, 'POST', '/pawl/login', { key })
    noteAddress(request, address)
    return (await dispatch(request)).status
  }
  for (let i = 0; i < 10; i++) expect(await login('192.0.2.1', 'wrong')).toBe(401)
  expect(await login('192.0.2.1', 'wrong')).toBe(429)
  expect(await login('192.0.2.1', 'ana')).toBe(200)
  expect(await login('192.0.2.2', 'wrong')).toBe(401)
})

test('logs the error of auth, and tells the caller nothing of it', async () => {
  const logged: unknown[] = []
  const logger = { ...silent, error: (message: string, fields?: object) => logged.push([message, fields]) }
  await using server = await startServer({ logger, auth: () => readSecret() })
  const reply = await server.call('ana', 'GET', '/v1/me')
  expect(reply).toMatchObject({ status: 500, body: { code: 'internal' } })
  expect(JSON.stringify(reply.body)).not.toContain('/secret/tokens.json')
  expect(logged).toEqual([
    [
      `Request ${reply.body.details.id} failed`,
      { error: expect.objectContaining({ cause: expect.objectContaining({ code: 'option-invalid' }) }) },
    ],
  ])
})

test.each([
  [{ user: 'ana', password: 'secret' }, 'an object with user, password: `actor` must begin with user:'],
  [{ actor: 'user:ana', names: [], role: 'owner' }, '`role` must be one of answer, watch, operate, admin'],
  [{ actor: 'user:ana', role: 'admin' }, '`names` must be a list'],
])('logs what is wrong with the identity that auth returns: %o', async (identity, says) => {
  const logged: unknown[] = []
  const logger = { ...silent, error: (_message: string, fields?: object) => logged.push(fields) }
  await using server = await startServer({ logger, auth: () => identity as never })
  expect(await server.call('ana', 'GET', '/v1/me')).toMatchObject({ status: 500, body: { code: 'internal' } })
  expect(logged).toMatchObject([{ error: { cause: { message: expect.stringContaining(says) } } }])
  expect(String((logged[0] as { error: Error }).error.cause)).not.toContain('secret')
})

test('names an option of createServer that does not exist, and the one that is meant', async () => {
  await using client = await openClient()
  expect(() => createServer({ client, host: ['a'] } as never)).toThrow(
    'There is no option host in the options of createServer. Did you mean hosts? Known options: client,',
  )
})

test('trusts the header of a proxy below a base path', async () => {
  await using client = await openClient()
  const { fetch } = createServer({
    client,
    basePath: '/pawl',
    auth: proxyHeader({
      header: 'x-user',
      trustProxy: ['192.0.2.1'],
      identify: (name) => ({ actor: `user:${name}`, names: [], role: 'watch' }),
    }),
  })
  const from = async (address: string) => {
    const request = requestOf(null, 'GET', '/pawl/v1/me', undefined, { 'x-user': 'ana' })
    noteAddress(request, address)
    return (await fetch(request)).status
  }
  expect(await from('192.0.2.1')).toBe(200)
  expect(await from('::ffff:192.0.2.1')).toBe(200)
  expect(await from('192.0.2.2')).toBe(401)
})

test('is reached below its base path, whether the framework strips it or not', async () => {
  await using server = await startServer({ basePath: '/pawl' })
  for (const path of ['/pawl/v1/me', '/v1/me'])
    expect((await send(server.server.fetch, 'ana', 'GET', path)).body).toMatchObject({ actor: 'user:ana' })
})

function readSecret(): never {
  throw new PawlError('option-invalid', { option: 'file of tokens', given: '/secret/tokens.json' })
}

async function openClient(): Promise<Client & AsyncDisposable> {
  const client = createClient({ store: memory() })
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.stop() })
}
