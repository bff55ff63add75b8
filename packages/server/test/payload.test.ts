import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPayload, writePayload } from '../src/json/payload.ts'

const payloads = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, undefined, true, false, Number.NaN, -0, Number.POSITIVE_INFINITY),
    fc.double(),
    fc.string(),
    fc.bigInt(),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array(),
    fc.array(tie('value')),
    fc.array(tie('value')).map((items) => new Set(items)),
    fc.array(fc.tuple(tie('value'), tie('value'))).map((pairs) => new Map(pairs)),
    fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('$pawl', '__proto__', 'value')), tie('value'), {
      noNullPrototype: true,
    }),
  ),
})).value

test('a payload is equal after it was written as JSON and read', () => {
  fc.assert(
    fc.property(payloads, (value) => {
      expect(readPayload(JSON.parse(JSON.stringify(writePayload(value))))).toStrictEqual(value)
    }),
    { numRuns: 2000 },
  )
})

test.each([
  [{ a: { $pawl: 'bigint', value: 'x' } }, 'a'],
  [{ a: [{ $pawl: 'date', value: 'soon' }] }, 'a[0]'],
  [{ $pawl: 'function' }, ''],
  [{ a: { $pawl: 'bytes', value: '*' } }, 'a'],
])('refuses %o, and names the path', (json, path) => {
  expect(() => readPayload(json)).toThrow(expect.objectContaining({ path }))
})
