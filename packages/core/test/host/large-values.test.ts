import { expect, test } from 'vitest'
import { z } from 'zod'
import { validate } from '../../src/host/run-schema.ts'
import type { Schema } from '../../src/schemas/schema.ts'

/** A schema that counts how often its library is asked. */
function counted(schema: Schema): { readonly schema: Schema; readonly calls: () => number } {
  let calls = 0
  const standard = {
    ...schema['~standard'],
    validate(value: unknown) {
      calls++
      return schema['~standard'].validate(value)
    },
  }
  return { schema: { '~standard': standard }, calls: () => calls }
}

const items = (count: number, item: (n: number) => unknown) =>
  Array.from({ length: count }, (_, n) => item(n))

test.each([
  ['a large value with many mistakes', items(5_000, () => 'a'), false, 0],
  ['a large value with few mistakes', items(5_000, (n) => (n < 50 ? 'a' : n)), false, 1],
  ['a large value without mistakes', items(5_000, (n) => n), true, 1],
  ['a small value with many mistakes', items(500, () => 'a'), false, 1],
])('%s is seen by the schema of the author only if it costs little', (_, value, isValid, calls) => {
  const { schema, calls: called } = counted(z.array(z.number()) as Schema)
  const checked = validate(schema, value)
  expect(checked).toMatchObject({ ok: isValid })
  if ('issues' in checked) expect(checked.issues.length).toBeLessThanOrEqual(100)
  expect(called()).toBe(calls)
})

test('a large value that cannot be read is left to the schema of the author', async () => {
  const value = Object.defineProperty([...items(5_000, () => 'a')], 0, {
    enumerable: true,
    get: () => {
      throw new Error('unreadable')
    },
  })
  const checked = await validate(z.array(z.number()) as Schema, value)
  expect(checked).toMatchObject({ ok: false, issues: [{ message: 'unreadable' }] })
})

test('a value that is nested deeply is no large one', () => {
  let value: unknown = 1
  for (let level = 0; level < 300; level++) value = { value }
  const { schema, calls } = counted(z.any() as Schema)
  expect(validate(schema, value)).toMatchObject({ ok: true })
  expect(calls()).toBe(1)
})
