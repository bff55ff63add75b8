import { expect, test } from 'vitest'
import { z } from 'zod'
import { routes } from '../src/routes/table.ts'
import { startServer } from './support/server.ts'

interface Shown {
  readonly properties?: { readonly [name: string]: { readonly type?: string; readonly maxItems?: number } }
}

/** The lists that bodies of requests can have. */
const lists = routes.flatMap(({ method, path, body, takes }) => {
  if (body === null || takes !== undefined) return []
  const { properties = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' }) as Shown
  return Object.entries(properties).flatMap(([name, { type, maxItems }]) =>
    type === 'array' ? [{ method, path, name, maxItems }] : [],
  )
})

test('bodies have lists', () => {
  expect(lists.map(({ name }) => name)).toContain('tags')
})

test.each(lists)(
  'the length of the list $name of $method $path is checked before its items',
  async ({ method, path, name, maxItems }) => {
    expect(maxItems).toBeLessThanOrEqual(200)
    await using s = await startServer()
    const body = { [name]: Array.from({ length: 10_000 }, () => null) }
    const reply = await s.call('root', method, `/v1${path.replaceAll(/\{\w+\}/g, 'x')}`, body)
    expect(reply).toMatchObject({ status: 400, body: { code: 'request-invalid' } })
    const about = reply.body.details.issues.filter(({ path }: { path: string }) =>
      path.startsWith(`body.${name}`),
    )
    expect(about).toMatchObject([
      { path: `body.${name}`, message: expect.stringContaining('expected a list of') },
    ])
  },
)

test('a refusal of a request is short, however many parts the request has', async () => {
  await using s = await startServer()
  const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`unknown-${n}`, n]))
  const reply = await s.call('root', 'POST', '/v1/runs', { procedure: 'refund', ...body })
  expect(reply).toMatchObject({ status: 400, body: { code: 'request-invalid' } })
  expect(JSON.stringify(reply.body).length).toBeLessThan(2_000)
})
