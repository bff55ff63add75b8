import { Packr } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import { decodePayload, encodePayload, PayloadCorrupt, WrittenLater } from '../../src/events/codec.ts'
import { measureFastest } from './fastest.ts'

const decodeHex = (hex: string): unknown => decodePayload(Buffer.from(hex.replaceAll(' ', ''), 'hex'))
const corruptionOf = (bytes: Uint8Array): PayloadCorrupt => {
  try {
    decodePayload(bytes)
  } catch (error) {
    if (error instanceof PayloadCorrupt) return error
    throw error
  }
  throw new Error('it was not corrupt')
}
const sample = {
  ...{ id: 'A-1', n: [1, 300, -70_000, 0.5], text: 'é'.repeat(50), 漢: undefined },
  ...{ map: new Map<unknown, unknown>([[new Date(5), 2n ** 70n]]), set: new Set([null]), odd: '\ud800' },
  ...{ bytes: new Uint8Array(40), floats: new Float64Array(3) },
}

describe('stored bytes that are not a payload', () => {
  test('rejects a payload that is cut short, at every length', () => {
    const payload = encodePayload(sample, 'value')
    for (let length = 0; length < payload.length; length++)
      expect(() => decodePayload(payload.slice(0, length))).toThrow(PayloadCorrupt)
    for (const value of [0.5, 300, -70_000, 2 ** 31, 'a text', { a: 0.5 }])
      expect(corruptionOf(encodePayload(value, 'value').slice(0, -1)).message).toContain('is cut short')
    expect(corruptionOf(new Uint8Array(0)).message).toBe('the payload is empty')
  })

  test('rejects a payload that is followed by other bytes', () => {
    for (const value of [1, 'text', sample, undefined, [new Uint8Array(3)]])
      expect(() => decodePayload(Uint8Array.of(...encodePayload(value, 'value'), 0xc0))).toThrow(
        'followed by 1 bytes that do not belong to it',
      )
  })

  test('rejects a payload with a flipped bit, or decodes another payload', () => {
    const payload = encodePayload(sample, 'value')
    let refused = 0
    for (let bit = 0; bit < payload.length * 8; bit++) {
      const flipped = payload.slice()
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      try {
        // Whatever they say now can be said again.
        encodePayload(decodePayload(flipped), 'value')
      } catch (error) {
        expect(error).toBeInstanceOf(PayloadCorrupt)
        refused++
      }
    }
    expect(refused).toBeGreaterThan(payload.length)
  })

  test('distinguishes a payload of a later form from a corrupt one', () => {
    const later = Uint8Array.of(0xc1, 1, 2, 3)
    expect(() => decodePayload(later)).toThrow(new WrittenLater('the payload'))
    expect(() => decodePayload(later)).not.toThrow(PayloadCorrupt)
    expect(corruptionOf(Uint8Array.of(0xc0, 0xc0)).message).toContain('is followed by')
  })

  test.each([
    ['c4 01 00', 'a binary'],
    ['ca 3f800000', 'a 32-bit float'],
    ['cf 0000000000000001', 'a 64-bit integer'],
    ['d3 0000000000000001', 'a signed 64-bit integer'],
    ['d4 00 00', 'the extension that means undefined to msgpackr'],
    ['d4 72 40 91a161 05', 'the definition of a record'],
    ['d5 72 40 00 91a161 05', 'the definition of a two-byte record'],
    ['d4 78 00 92a3612b24a0', 'a regular expression'],
    ['d4 65 00 93a5 4572726f72 a178 c0', 'an Error'],
    ['d4 73 00 90', 'a Set of msgpackr'],
    ['d6 69 00000001 90', 'an object with an id'],
    ['d6 70 00000001', 'a pointer to one'],
    ['d6 ff 00000001', 'a timestamp'],
    ['c7 02 74 00 01', 'a typed array of msgpackr'],
    ['d6 62 00000001', 'a bundle of strings'],
    ['c8 0000 01', 'an unknown extension'],
    ['93 c1 00 00', 'the byte that is never used'],
    ['82 a10000 01 02', 'a key that is a number'],
    ['81 c0 01', 'a key that is nil'],
    ['81 91a161 01', 'a key that is an array'],
    ['81 a95f5f70726f746f5f5f 01', '__proto__ as a key'],
    ['82 a161 01 a100 00', 'an escape beside other keys'],
    ['82 a100 00 a161 01', 'an escape before other keys'],
    ['d9 03 616263', 'a header longer than its text needs'],
    ['81 d901 00 00', 'an escape in another spelling'],
    ['a1 ff', 'text that is not UTF-8'],
    ['a3 eda080', 'half of a surrogate pair in UTF-8'],
    ['a2 c080', 'NUL in two bytes'],
    ['a4 efbbbf61', 'text with a byte order mark'],
    ['81 a1ff 01', 'a key that is not UTF-8'],
    ['81 a100 03', 'a Date without a time'],
    ['81 a100 0b', 'a tag beyond the last'],
    ['81 a100 c0', 'a tag that is nil'],
    ['81 a100 a161', 'a tag that is text'],
    ['81 a100 90', 'an escape without a tag'],
    ['81 a100 91 0b', 'a tag beyond the last, with parts'],
    ['81 a100 92 03 c0', 'a Date that is not a number'],
    ['81 a100 92 03 cb7ff8000000000000', 'an invalid Date'],
    ['81 a100 92 03 cb3fe0000000000000', 'a Date between two milliseconds'],
    ['81 a100 93 03 01 02', 'a Date with a part too many'],
    ['81 a100 92 04 a3307866', 'a bigint that is not hexadecimal'],
    ['81 a100 92 04 a2 3031', 'a bigint with a needless zero'],
    ['81 a100 92 04 a2 2d30', 'a bigint that is minus zero'],
    ['81 a100 92 04 a0', 'a bigint without digits'],
    ['81 a100 92 04 05', 'a bigint that is a number'],
    ['81 a100 92 05 61', 'a text of a unit that needs no escape'],
    ['81 a100 92 05 c0', 'a text of nil'],
    ['81 a100 92 06 01', 'a Map with a key and no value'],
    ['81 a100 93 08 01 02', 'an object with a number as a key'],
    ['81 a100 93 0a 00 01', 'bytes that are not there'],
    ['81 a100 93 0a 0b 00', 'a typed array of an unknown kind'],
    ['81 a100 93 0a 08 04 00000000', 'half of a Float64Array'],
    ['81 a100 93 0a ccc8 00', 'a kind in two bytes'],
    ['81 a100 92 0a 00', 'a typed array without a length'],
    ['81 a100 93 0a 00 a100', 'a typed array whose length is text'],
    ['82 a161 81a100930a0001 a161 81a100930a0001 0000', 'bytes of a key that occurs twice'],
  ])('rejects %s, %s', (hex) => {
    expect(() => decodeHex(hex)).toThrow(PayloadCorrupt)
  })

  test('rejects bytes that msgpackr alone would decode', () => {
    const packr = new Packr({ moreTypes: true, structuredClone: true })
    const written = [
      /a/,
      new Error('x'),
      new Set([1]),
      new Date(1),
      new Uint16Array(2),
      2n ** 80n,
      [undefined],
    ]
    for (const value of written) expect(() => decodePayload(packr.pack(value))).toThrow(PayloadCorrupt)
    expect(() => decodePayload(packr.pack([{ a: 1 }, { a: 2 }]))).toThrow(PayloadCorrupt)
  })

  test('runs no code named in stored bytes', () => {
    const NativeFunction = globalThis.Function
    let made = 0
    globalThis.Function = new Proxy(NativeFunction, {
      construct: (target, parts) => {
        made++
        return Reflect.construct(target, parts)
      },
    })
    try {
      const records = new Packr()
      const bytes = records.pack([{ a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }, { a: 1 }])
      for (let count = 0; count < 10; count++) expect(() => decodePayload(bytes)).toThrow(PayloadCorrupt)
      for (let count = 0; count < 10; count++) decodePayload(encodePayload([{ a: 1 }, { a: 1 }], 'value'))
      expect(made).toBe(0)
    } finally {
      globalThis.Function = NativeFunction
    }
  })

  test('decodes the next payload after a corrupt one', () => {
    const payload = encodePayload(sample, 'value')
    const expected = decodePayload(payload)
    for (let length = 1; length < payload.length; length++) {
      expect(() => decodePayload(payload.subarray(0, length))).toThrow(PayloadCorrupt)
      if (length % 40 === 0) expect(decodePayload(payload)).toEqual(expected)
    }
  })
})

describe('stored bytes that claim too much', () => {
  test.each([
    ['dd ffffffff', 'an array of 2^32 elements'],
    ['df ffffffff', 'an object of 2^32 keys'],
    ['db ffffffff', 'a text of 2^32 bytes'],
    ['81 a100 dd ffffffff', 'an escape of 2^32 parts'],
    ['81 a100 93 0a 00 ce ffffffff', 'a typed array of 2^32 bytes'],
  ])('rejects %s, %s, at once and without memory', (hex) => {
    const before = process.memoryUsage()
    expect(() => decodeHex(hex)).toThrow(PayloadCorrupt)
    const after = process.memoryUsage()
    expect(after.heapUsed + after.arrayBuffers - before.heapUsed - before.arrayBuffers).toBeLessThan(
      10 * 1024 * 1024,
    )
    expect(measureFastest(() => expect(() => decodeHex(hex)).toThrow(PayloadCorrupt))).toBeLessThan(10)
  })

  test('rejects nested arrays that each claim the rest as soon as one is incomplete', () => {
    const bomb = new Uint8Array(60_000)
    for (let index = 0; index + 3 <= bomb.length; index += 3) {
      const left = bomb.length - index - 3
      bomb.set([0xdc, left >> 8, left & 0xff], index)
    }
    expect(
      measureFastest(() => expect(() => decodePayload(bomb)).toThrow('nested more than 264')),
    ).toBeLessThan(10)
  })

  test('rejects 10 thousand and 10 million levels, and decodes 264', () => {
    for (const levels of [265, 10_000, 10_000_000]) {
      const bomb = new Uint8Array(levels + 1).fill(0x91, 0, levels)
      const refuse = () => expect(() => decodePayload(bomb)).toThrow('nested more than 264')
      expect(measureFastest(refuse)).toBeLessThan(10)
    }
    expect(decodePayload(new Uint8Array(265).fill(0x91, 0, 264))).toBeInstanceOf(Array)
  })

  test('counts levels of escapes', () => {
    const set = [0x81, 0xa1, 0x00, 0x92, 0x07]
    const nest = (levels: number): Uint8Array =>
      Uint8Array.from([...Array.from({ length: levels }, () => set), [0x90]].flat())
    expect(decodePayload(nest(263))).toBeInstanceOf(Set)
    expect(() => decodePayload(nest(265))).toThrow('nested more than 264')
    expect(() => decodePayload(nest(100_000))).toThrow(PayloadCorrupt)
  })
})
