import { procedure } from '@pawl/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { countFields, countValues } from '../src/http/parts.ts'
import { readPayload } from '../src/json/payload.ts'
import { startServer } from './support/server.ts'

/** What is counted besides the value itself: each list and object, and each part after the first. */
function partsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const parts: readonly unknown[] = Object.values(value)
  return 1 + Math.max(0, parts.length - 1) + parts.reduce<number>((sum, part) => sum + partsOf(part), 0)
}

test('the values in a body are counted without commas and brackets in texts', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string(), (value, text) => {
      const json = { [text]: value, tricky: ['"', '\\\\', '[{,"', text] }
      const bytes = Buffer.from(JSON.stringify(json))
      expect(countValues(bytes, Number.POSITIVE_INFINITY)).toBe(1 + partsOf(json))
    }),
  )
})

test('what is no JSON is counted to its end', () => {
  for (const text of ['', '"', '"\\\\', '"a\\', '[,', 'nonsense, of some kind'])
    expect(countValues(Buffer.from(text), 10)).toBeLessThan(4)
  expect(countFields(Buffer.from('a=1&b=2&c'), 10)).toBe(3)
  expect(countFields(Buffer.from('&&&&&&&'), 3)).toBe(4)
})

test.each([
  ['a list', (count: number) => Array.from({ length: count }, () => 0)],
  ['an object', (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 0]))],
  ['lists in a list', (count: number) => Array.from({ length: count / 2 }, () => [])],
])('a body with %s of too many values is refused before it is read', async (_, make) => {
  await using s = await startServer()
  const send = (count: number) =>
    s.call('root', 'POST', '/v1/runs', { procedure: 'none', input: make(count) })
  expect(await send(50_010)).toMatchObject({
    status: 413,
    body: { code: 'request-invalid', detail: expect.stringContaining('more than 50000 values') },
  })
  expect((await send(49_990)).status).not.toBe(413)
})

test('a form with too many fields is refused before it is read', async () => {
  const links = { publicUrl: 'http://127.0.0.1', keys: ['k'.repeat(32)] } as const
  await using s = await startServer({ links })
  const send = (fields: number) =>
    s.server.fetch(
      new Request('http://127.0.0.1/a', {
        method: 'POST',
        headers: { host: '127.0.0.1', 'content-type': 'application/x-www-form-urlencoded' },
        body: `token=a${'&b=c'.repeat(fields - 1)}`,
      }),
    )
  expect((await send(1_001)).status).toBe(413)
  expect((await send(1_000)).status).not.toBe(413)
})

test('each large answer to several asks is checked in a round of the event loop of its own', async () => {
  let round = 0
  let isOver = false
  const count = (): void => {
    round++
    if (!isOver) setImmediate(count)
  }
  const seen: number[] = []
  const list = z.array(z.number()).refine(() => seen.push(round) === 0)
  const asking = procedure({ name: 'asking' }, async (ctx) => {
    await Promise.all([1, 2, 3, 4, 5].map((n) => ctx.human.input(`List ${n}?`, list, { key: `k${n}` })))
  })
  await using s = await startServer({ procedures: [asking] })
  const run = await s.engine.run(asking)
  await expect.poll(async () => (await s.engine.inbox.list({ run: run.id })).items.length).toBe(5)
  const asks = (await s.engine.inbox.list({ run: run.id })).items.map(({ id }) => id)
  count()
  const value = Array.from({ length: 2_000 }, (_, n) => n)
  const reply = await s.call('root', 'POST', '/v1/asks/answers', { asks, answer: { value } })
  isOver = true
  expect(reply.body.outcomes.map(({ status }: { status: string }) => status)).toEqual(
    Array(5).fill('refused'),
  )
  expect(seen).toHaveLength(5)
  expect(new Set(seen).size).toBe(5)
})

test('a payload without marked values is not copied', () => {
  const json = { a: [{ b: 1 }], c: 'text' }
  expect(readPayload(json)).toBe(json)
  expect(readPayload({ a: { $pawl: 'bigint', value: '7' } })).toEqual({ a: 7n })
})
