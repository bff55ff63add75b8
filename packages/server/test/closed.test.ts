import { createClient } from '@pawl/core'
import { createServer, local } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'
import { send, startServer } from './support/server.ts'

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

test('refuses an address after ten failed logins in a minute', async () => {
  await using server = await startServer()
  for (let i = 0; i < 10; i++) expect((await server.call('wrong', 'GET', '/v1/me')).status).toBe(401)
  const refused = await server.call('ana', 'GET', '/v1/me')
  expect(refused).toMatchObject({ status: 429, body: { code: 'too-many' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
})

test('is reached below its base path, whether the framework strips it or not', async () => {
  await using server = await startServer({ basePath: '/pawl' })
  for (const path of ['/pawl/v1/me', '/v1/me'])
    expect((await send(server.server.fetch, 'ana', 'GET', path)).body).toMatchObject({ actor: 'user:ana' })
})
