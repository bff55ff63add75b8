import { expect, test } from 'vitest'
import { hostileRequests } from './support/loop/requests.ts'
import { Siege } from './support/loop/siege.ts'

test('a step begins once, although a server is sent the largest requests of every kind meanwhile', async () => {
  await using siege = await Siege.begin()
  for (const request of hostileRequests.filter((_, n) => n % 5 === 0)) {
    const { status } = await siege.strike(request)
    expect(status, request.name).toBeLessThan(500)
  }
  expect(siege.begins).toBe(1)
  expect(await siege.release()).toBe('held')
  expect(siege.begins).toBe(1)
})

test('a step begins twice if a schema that nothing bounds holds the event loop for longer than the lease', async () => {
  await using siege = await Siege.begin()
  expect(siege.begins).toBe(1)
  const value = { items: Array.from({ length: 100_000 }, () => ({})) }
  expect(await siege.validate(value)).toBeGreaterThan(0)
  expect(siege.begins).toBe(2)
  expect(await siege.release()).toBe('held')
})
