import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  decodePayload,
  encodePayload,
  PayloadCorrupt,
  PayloadRefused,
  WrittenLater,
} from '../../src/events/codec.ts'
import { findDifference } from './same-value.ts'

const text = fc.oneof(
  fc.string(),
  fc.string({ unit: 'binary', maxLength: 90 }),
  // Any UTF-16 units, pairs or not.
  fc.array(fc.nat(0xffff), { maxLength: 80 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'toJSON',
    'then',
    '\0',
    '',
    '0',
    '\ufeff',
    '\ud800',
  ),
)
const typedArray = fc.oneof(
  fc.uint8Array(),
  fc.int8Array(),
  fc.uint8ClampedArray(),
  fc.int16Array(),
  fc.uint16Array(),
  fc.int32Array(),
  fc.uint32Array(),
  fc.float32Array(),
  fc.float64Array(),
  fc.bigInt64Array(),
  fc.bigUint64Array(),
)
const leaf = fc.oneof(
  fc.constantFrom(null, undefined, true, false, -0, 0, NaN, Infinity, -Infinity, 2 ** 53, -(2 ** 31)),
  fc.double(),
  fc.integer(),
  fc.integer({ min: -200, max: 70_000 }),
  fc.bigInt(),
  fc.date({ noInvalidDate: true, min: new Date(-8.64e15), max: new Date(8.64e15) }),
  text,
  typedArray,
)
const few = { maxLength: 4 }
/** Every kind of value that can be recorded. */
const payload = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    { weight: 4, arbitrary: leaf },
    fc.array(tie('value'), few),
    // Own keys, __proto__ among them, in any order; with Object.prototype or none.
    fc
      .tuple(fc.uniqueArray(fc.tuple(text, tie('value')), { ...few, selector: ([key]) => key }), fc.boolean())
      .map(([entries, isBare]) => {
        const object = isBare ? Object.create(null) : {}
        for (const [key, value] of entries)
          Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
        return object
      }),
    fc.array(fc.tuple(tie('value'), tie('value')), few).map((entries) => new Map(entries)),
    fc.array(tie('value'), few).map((items) => new Set(items)),
  ),
})).value

describe('the codec', () => {
  test('decodes every payload to an equal value', () => {
    fc.assert(
      fc.property(payload, (value) => {
        const decoded = decodePayload(encodePayload(value, 'value'))
        expect(findDifference(decoded, value)).toBeUndefined()
      }),
      { numRuns: 3_000 },
    )
  })

  test('encodes equal values, and decoded values, to the same bytes', () => {
    fc.assert(
      fc.property(payload, (value) => {
        const bytes = encodePayload(value, 'value')
        expect(encodePayload(value, 'other')).toEqual(bytes)
        expect(encodePayload(decodePayload(bytes), 'value')).toEqual(bytes)
      }),
      { numRuns: 1_000 },
    )
  })

  test('decodes bytes in a buffer like separate bytes', () => {
    fc.assert(
      fc.property(payload, fc.uint8Array(), fc.uint8Array(), (value, before, after) => {
        const bytes = encodePayload(value, 'value')
        const inside = Buffer.from([...before, ...bytes, ...after]).subarray(
          before.length,
          before.length + bytes.length,
        )
        expect(findDifference(decodePayload(inside), value)).toBeUndefined()
      }),
      { numRuns: 300 },
    )
  })

  test('rejects a payload with one part that cannot be recorded, with no other error', () => {
    const refused = fc.constantFrom<unknown>(
      () => 1,
      Symbol('s'),
      /a/,
      new Error('e'),
      new Date(NaN),
      new (class A {})(),
    )
    fc.assert(
      fc.property(payload, refused, payload, (before, thing, after) => {
        expect(() => encodePayload({ before, list: [{ thing }], after }, 'value')).toThrow(
          expect.objectContaining({ path: 'value.list[0].thing' }),
        )
      }),
      { numRuns: 300 },
    )
  })

  test('encodes or rejects any value', () => {
    fc.assert(
      fc.property(
        fc.anything({
          ...{ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true },
          ...{
            withSparseArray: true,
            withObjectString: true,
            withBoxedValues: true,
            withNullPrototype: true,
          },
          withUnicodeString: true,
        }),
        (value) => {
          let bytes: Uint8Array
          try {
            bytes = encodePayload(value, 'value')
          } catch (error) {
            expect(error).toBeInstanceOf(PayloadRefused)
            return
          }
          expect(findDifference(decodePayload(bytes), value)).toBeUndefined()
        },
      ),
      { numRuns: 2_000 },
    )
  })
})

describe('the decoder', () => {
  const tokens = fc.oneof(
    fc.nat(255),
    fc.constantFrom(0x81, 0xa1, 0x00, 0x92, 0x93, 0xc0, 0xcb, 0xcc, 0xd4, 0xd9, 0xdc, 0xdd, 0xde, 0xdf),
    fc.nat(10),
  )
  const escape = fc.tuple(fc.nat(4), fc.nat(11)).map(([parts, tag]) => [0x81, 0xa1, 0, 0x91 + parts, tag])
  const inventedBytes = fc
    .array(
      fc.oneof({ weight: 4, arbitrary: tokens.map((token) => [token]) }, { weight: 1, arbitrary: escape }),
    )
    .map((parts) => Uint8Array.from(parts.flat()))
  const damagedBytes = fc
    .tuple(payload, fc.array(fc.tuple(fc.nat(), fc.nat(255)), { minLength: 1, maxLength: 4 }))
    .map(([value, changes]) => {
      const bytes = encodePayload(value, 'value')
      for (const [place, byte] of changes) bytes[place % bytes.length] = byte
      return bytes
    })

  test.each([
    ['any bytes', fc.uint8Array({ maxLength: 200 }), 10_000],
    ['bytes that look like a payload', inventedBytes, 10_000],
    ['payloads with some bytes changed', damagedBytes, 3_000],
  ])('decodes %s or reports them as corrupt, and pollutes no prototype', (_, bytes, numRuns) => {
    let decodedCount = 0
    fc.assert(
      fc.property(bytes, (candidate) => {
        let decoded: unknown
        try {
          decoded = decodePayload(candidate)
        } catch (error) {
          expect(error).toBeInstanceOf(candidate[0] === 0xc1 ? WrittenLater : PayloadCorrupt)
          return
        }
        decodedCount++
        // Whatever came out is something that can go in: plain data of the closed set.
        encodePayload(decoded, 'value')
      }),
      { numRuns },
    )
    expect(decodedCount).toBeGreaterThan(0)
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(Object.getOwnPropertyNames(Object.prototype)).toHaveLength(12)
  })
})
