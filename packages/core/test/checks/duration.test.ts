import { expect, test } from 'vitest'
import { z } from 'zod'
import { parseDuration } from '../../src/checks/duration.ts'
import { duration } from '../../src/index.ts'
import { validate } from '../../src/schemas/schema.ts'

test('accepts external text as a duration', () => {
  expect(duration('90s')).toBe('90s')
})

test.each([
  ['5 minutes', 'it must be a number with one unit'],
  ['90', "it has no unit: write '90s' for seconds"],
  ['-1h', 'it is negative: time only goes forward'],
  ['1y', "'y' is not a unit"],
  ['301000d', 'it is longer than 300 years'],
  [90, "a bare number has no unit: write '90ms' or '90s'"],
  [null, 'it must be a string'],
])('rejects %o, and says what is wrong and what to write', (text, wrong) => {
  expect(() => duration(text as string)).toThrow(
    expect.objectContaining({
      code: 'duration-invalid',
      details: { text: String(text) },
      message: `'${text}' is not a duration: ${wrong}. Use a number and one unit (ms, s, m, h, d, w), such as '500ms', '90s', '1.5h' or '3d'.`,
    }),
  )
})

test('names the option of an invalid duration', () => {
  expect(() => parseDuration(90, "timeout of step 'charge'")).toThrow(
    "'90' is not a duration (timeout of step 'charge'): a bare number has no unit: write '90ms' or '90s'.",
  )
})

test('rejects a value that cannot be formatted', () => {
  expect(() => parseDuration(Symbol('soon'))).toThrow('is not a duration')
  expect(() => parseDuration(Object.create(null))).toThrow('is not a duration')
})

test('reports an invalid duration as an issue of a zod schema', () => {
  const schema = z.object({ wait: z.string().transform(duration) })
  expect(validate(schema, { wait: '3d' })).toEqual({ ok: true, value: { wait: '3d' } })
})

test('reports an error that duration() throws in a schema as an issue', async () => {
  const checked = await validate(z.string().transform(duration), 'soon')
  expect(checked).toMatchObject({
    ok: false,
    issues: [{ path: '', message: expect.stringContaining("'soon' is not") }],
  })
})
