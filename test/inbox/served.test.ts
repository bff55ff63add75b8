import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { createEngine } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'

async function get(
  path: string,
  basePath: '/' | `/${string}` = '/',
  headers: Record<string, string> = {},
): Promise<Response> {
  const engine = await createEngine({ store: memory(), procedures: [] })
  const server = createServer({ client: engine, basePath })
  const reply = await server.fetch(
    new Request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1', ...headers } }),
  )
  await engine.stop()
  return reply
}

test('the page of the inbox needs no login, is checked on each visit, and loads only its own files', async () => {
  const page = await get('/')
  expect(page.status).toBe(200)
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(page.headers.get('cache-control')).toBe('no-cache')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self'")
  const text = await page.text()
  expect(text).not.toMatch(/<script(?![^>]* src="\/assets\/)/)
  expect(text).not.toMatch(/ style=| on\w+=/)
})

test('the files of the page have a hash in their names and are kept for a year, below any path', async () => {
  const page = await (await get('/pawl', '/pawl')).text()
  const names = [...page.matchAll(/"(\/pawl\/assets\/[^"]+)"/g)].map(([, name]) => name ?? '')
  expect(names).toHaveLength(2)
  for (const name of names) {
    const file = await get(name, '/pawl')
    expect(file.status).toBe(200)
    expect(name).toMatch(/-[\w-]{8}\.(js|css)$/)
    expect(file.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(file.headers.get('x-content-type-options')).toBe('nosniff')
  }
})

test.each([
  ['gzip, deflate, br, zstd', 'br'],
  ['gzip, deflate', 'gzip'],
  ['br;q=0, gzip;q=0.5', 'gzip'],
  ['identity', null],
  ['', null],
])('the files are sent compressed to who takes that: %s', async (accepted, encoding) => {
  const page = await (await get('/')).text()
  for (const [, name = ''] of page.matchAll(/"(\/assets\/[^"]+)"/g)) {
    const plain = Buffer.from(await (await get(name)).arrayBuffer())
    const file = await get(name, '/', { 'accept-encoding': accepted })
    expect(file.headers.get('content-encoding')).toBe(encoding)
    expect(file.headers.get('vary')).toMatch(/accept-encoding/i)
    expect(file.headers.get('content-type')).toMatch(/^text\/(javascript|css); charset=utf-8$/)
    const sent = Buffer.from(await file.arrayBuffer())
    const read = { br: brotliDecompressSync, gzip: gunzipSync }
    const decoded = encoding === null ? sent : read[encoding as keyof typeof read](sent)
    expect(decoded.equals(plain)).toBe(true)
    if (encoding !== null) expect(sent.length).toBeLessThan(plain.length / 2)
  }
})

test('the page shows where its parts will be before its script has loaded', async () => {
  const page = await (await get('/')).text()
  expect(page).toMatch(/<div id="app">\s*<div class="shell"/)
  expect(page).toContain('aria-busy="true"')
})

test.each([
  '/assets/none.js',
  '/assets/index.js.br',
  '/assets/..%2Findex.html',
  '/assets/%2e%2e%2f%2e%2e%2fpackage.json',
  '/assets/',
])('a file that the inbox does not have is refused: %s', async (path) => {
  expect((await get(path)).status).toBe(404)
})
