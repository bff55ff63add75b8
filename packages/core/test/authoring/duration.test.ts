import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseDuration } from '../../src/authoring/duration.ts'
import { validate } from '../../src/base/schema.ts'
import { duration, PawlError } from '../../src/index.ts'

test('text from outside becomes a duration', () => {
  expect(duration('90s')).toBe('90s')
})

test('text that is none is refused with what to write', () => {
  expect(() => duration('5 minutes')).toThrow(
    new PawlError(
      'duration-invalid',
      { text: '5 minutes' },
      {
        what: "'5 minutes' is not a duration: it must be a number and one unit (ms, s, m, h, d, w), such as '90s' or '1.5h'.",
        remedy: '',
      },
    ),
  )
})

test('the option it was given for is named', () => {
  expect(() => parseDuration(90, "timeout of step 'charge'")).toThrow(
    "'90' is not a duration (timeout of step 'charge'): a bare number has no unit: write '90ms' or '90s'.",
  )
})

test('what cannot be shown is refused like anything else', () => {
  expect(() => parseDuration(Symbol('soon'))).toThrow('is not a duration')
  expect(() => parseDuration(Object.create(null))).toThrow('is not a duration')
})

test('it fits a schema of zod: a refusal is an issue', () => {
  const schema = z.object({ wait: z.string().transform(duration) })
  expect(validate(schema, { wait: '3d' })).toEqual({ ok: true, value: { wait: '3d' } })
})

test('what it throws in a schema is an issue', async () => {
  const checked = await validate(z.string().transform(duration), 'soon')
  expect(checked).toMatchObject({
    ok: false,
    issues: [{ path: '', message: expect.stringContaining("'soon' is not") }],
  })
})
