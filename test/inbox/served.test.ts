import { createEngine } from '@pawl/core'
import { createServer } from '@pawl/server'
import { memory } from '@pawl/testing'
import { expect, test } from 'vitest'

async function get(path: string, basePath: '/' | `/${string}` = '/'): Promise<Response> {
  const engine = await createEngine({ store: memory(), procedures: [] })
  const server = createServer({ client: engine, basePath })
  const reply = await server.fetch(new Request(`http://127.0.0.1${path}`, { headers: { host: '127.0.0.1' } }))
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
  '/assets/none.js',
  '/assets/..%2Findex.html',
  '/assets/%2e%2e%2f%2e%2e%2fpackage.json',
  '/assets/',
])('a file that the inbox does not have is refused: %s', async (path) => {
  expect((await get(path)).status).toBe(404)
})
