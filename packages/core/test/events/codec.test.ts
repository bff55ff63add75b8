import { runInNewContext } from 'node:vm'
import { addExtension, Packr, unpack } from 'msgpackr'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { swapBytes } from '../../src/events/codec/byte-arrays.ts'
import { decodePayload, encodePayload, PayloadRefused } from '../../src/events/codec.ts'
import { measureFastest } from './fastest.ts'
import { findDifference } from './same-value.ts'

const copy = (value: unknown): unknown => decodePayload(encodePayload(value, 'value'))
const hex = (value: unknown): string => Buffer.from(encodePayload(value, 'value')).toString('hex')
const refusalOf = (value: unknown, maxBytes?: number): PayloadRefused => {
  try {
    encodePayload(value, 'value', maxBytes === undefined ? undefined : { bytes: maxBytes, levels: 256 })
  } catch (error) {
    if (error instanceof PayloadRefused) return error
    throw error
  }
  throw new Error('it was not refused')
}
/** `levels` arrays inside one another. */
const nest = (levels: number, inside: unknown = 1): unknown =>
  Array.from({ length: levels }).reduce((value) => [value], inside)

afterEach(() => vi.useRealTimers())

// docs/guides/payloads.md lists every kind of value, and its test goes through that list.
describe('a payload', () => {
  test('rejects a cycle and names both ends', () => {
    const order: { lines: object[] } = { lines: [] }
    order.lines.push({ of: order })
    expect(refusalOf({ order }).message).toBe('value.order.lines[0].of refers back to value.order')
    const self = new Map<string, unknown>()
    self.set('me', self)
    expect(refusalOf({ self }).message).toBe('value.self.get("me") refers back to value.self')
  })

  test('reports a cycle as a cycle, even if it exceeds the size limit first', () => {
    const page: Record<string, unknown> = { text: 'x'.repeat(100_000) }
    page['next'] = page
    expect(refusalOf(page).message).toBe('value.next refers back to value')
  })

  test('accepts an object that occurs twice without a cycle', () => {
    const shared = { a: 1 }
    expect(copy([shared, { shared }])).toEqual([shared, { shared }])
  })

  test('names the path and the reason of a refusal, and encodes nothing', () => {
    const refusal = refusalOf({ items: [0, 1, 2, { fn: () => 1 }] })
    expect(refusal.message).toBe('value.items[3].fn is a function')
    expect(refusal).toMatchObject({
      name: 'PayloadRefused',
      path: 'value.items[3].fn',
      reason: 'is a function',
    })
  })

  test('rejects objects that only look like built-in objects', () => {
    for (const kind of [Date, Map, Set, Uint8Array, Promise])
      expect(() => encodePayload(Object.create(kind.prototype), 'value')).toThrow(PayloadRefused)
    expect(() => encodePayload(Object.create({ inherited: 1 }), 'value')).toThrow('has a prototype')
    expect(() => encodePayload(new (class extends Array {})(), 'value')).toThrow(PayloadRefused)
    expect(() => encodePayload(new (class Bytes extends Uint8Array {})(1), 'value')).toThrow('class Bytes')
    expect(() => encodePayload(new DataView(new ArrayBuffer(1)), 'value')).toThrow('pass its bytes')
    const tricky = Object.create({
      get constructor(): never {
        throw new Error('no class to see')
      },
    })
    expect(refusalOf({ tricky }).message).toBe('value.tricky cannot be read: no class to see')
  })

  test('rejects arguments, Math and an object with a hidden constructor', () => {
    const list = (function collect(..._items: number[]) {
      // biome-ignore lint/complexity/noArguments: it is what is tested
      return arguments
    })(1, 2)
    expect(() => encodePayload(list, 'value')).toThrow(PayloadRefused)
    expect(() => encodePayload(Math, 'value')).toThrow(PayloadRefused)
  })

  test('rejects an array with an accessor, a hidden hole or a symbol', () => {
    const withAccessor = Object.defineProperty([1, 2], 1, { get: () => 2, enumerable: true })
    expect(refusalOf(withAccessor).path).toBe('value[1]')
    const holeAndExtra = Object.assign([1, 2, 3], { extra: true })
    Reflect.deleteProperty(holeAndExtra, 1)
    expect(refusalOf(holeAndExtra).path).toBe('value[1]')
    expect(refusalOf(new Array(3)).message).toBe('value[0] is a hole in a sparse array')
    expect(refusalOf(Object.assign([1], { [Symbol('tag')]: 1 })).reason).toContain('Symbol(tag)')
  })

  test('rejects a setter without a getter', () => {
    expect(refusalOf(Object.defineProperty({}, 'a', { set: () => {}, enumerable: true })).path).toBe(
      'value.a',
    )
  })

  test('reads a proxy once, so that it writes the checked value', () => {
    let reads = 0
    const fickle = new Proxy({ a: 1 } as Record<string, unknown>, {
      getOwnPropertyDescriptor: () => ({
        value: reads++ === 0 ? 'checked' : () => 'smuggled',
        enumerable: true,
        configurable: true,
      }),
      get: () => () => 'smuggled',
    })
    expect(copy(fickle)).toEqual({ a: 'checked' })
    expect(reads).toBe(1)
  })

  test('rejects a proxy that throws or is revoked, with its path', () => {
    const throwing = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('not now')
        },
      },
    )
    expect(refusalOf({ list: [throwing] }).message).toBe('value.list[0] cannot be read: not now')
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(refusalOf([1, proxy]).path).toBe('value[1]')
  })

  test('encodes a payload while a proxy of another one is being read', () => {
    let inner: Uint8Array | undefined
    const busy = new Proxy(
      { a: 1, b: new Uint8Array([1]) },
      {
        ownKeys: (target) => {
          inner = encodePayload({ inside: [1, new Uint8Array([7])] }, 'inner')
          return Reflect.ownKeys(target)
        },
      },
    )
    expect(copy({ before: new Uint8Array([3]), busy })).toEqual({
      before: new Uint8Array([3]),
      busy: { a: 1, b: new Uint8Array([1]) },
    })
    expect(decodePayload(inner as Uint8Array)).toEqual({ inside: [1, new Uint8Array([7])] })
  })

  test('accepts plain objects, arrays and bytes of another realm', () => {
    const foreign = runInNewContext('({ list: [1, { a: 2 }], bytes: new Uint8Array([1, 2]) })')
    expect(
      findDifference(copy(foreign), { list: [1, { a: 2 }], bytes: new Uint8Array([1, 2]) }),
    ).toBeUndefined()
    expect(refusalOf({ at: runInNewContext('new Date()') }).message).toBe(
      'value.at is an instance of the class Date: of another realm: pass new Date(date)',
    )
  })

  test('accepts a Date created under a fake clock', () => {
    vi.useFakeTimers({ now: 1_234 })
    expect(encodePayload(new Date(), 'value')).toEqual(encodePayload(new Date(1_234), 'value'))
    vi.useRealTimers()
    expect(Object.getPrototypeOf(copy(new Date(1)))).toBe(Date.prototype)
  })

  test('encodes every NaN alike', () => {
    const odd = new Float64Array(new BigUint64Array([0xfff8_0000_0000_0001n]).buffer)[0]
    expect(hex(odd)).toBe(hex(Number.NaN))
    expect(hex([0 / 0, Math.sqrt(-1)])).toBe(hex([Number.NaN, Number.NaN]))
  })

  test('keeps the kind of a typed array, and only its part of a buffer', () => {
    const floats = new Float32Array([0.5, -0, Number.NaN, 1e30]).subarray(1, 3)
    expect(findDifference(copy(floats), new Float32Array([-0, Number.NaN]))).toBeUndefined()
    expect((copy(floats) as Float32Array).buffer.byteLength).toBe(8)
    expect(swapBytes(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 4)).toEqual(Uint8Array.of(4, 3, 2, 1, 8, 7, 6, 5))
    expect(copy(new Uint16Array([1, 0x0203]))).toEqual(new Uint16Array([1, 0x0203]))
  })

  test('restores text unit by unit, at any length', () => {
    const pieces = [
      'a\0b',
      '\uffff',
      '🎉',
      '\u202e\u202d',
      '\ud800',
      '\udc00\ud800',
      '\ufeff',
      'é漢',
      'e\u0301',
    ]
    for (const piece of pieces)
      for (const length of [0, 1, 7, 15, 16, 31, 32, 33, 63, 64, 65, 140, 255, 256, 300, 65_535, 65_536]) {
        const text = piece + 'x'.repeat(length) + piece
        expect(copy(text) === text).toBe(true)
        expect(Object.keys(copy({ [text]: 1 }) as object)[0] === text).toBe(true)
        expect((copy([text, text]) as string[])[1] === text).toBe(true)
      }
  })

  test('leaves nothing behind after a refusal that affects the next payload', () => {
    const before = hex({ a: [1, 'two'] })
    for (let count = 0; count < 100; count++)
      expect(() => encodePayload({ a: new Uint8Array(9), b: nest(count, Symbol('s')) }, 'x')).toThrow(
        PayloadRefused,
      )
    expect(hex({ a: [1, 'two'] })).toBe(before)
  })

  test('treats keys that are special to JavaScript as plain keys', () => {
    const value = JSON.parse(
      '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"hasOwnProperty":3}',
    )
    const decoded = copy([value, new Map([[value, value]])]) as [object, Map<object, object>]
    expect(findDifference(decoded[0], value)).toBeUndefined()
    expect(Object.keys(decoded[0])).toEqual(['__proto__', 'constructor', 'hasOwnProperty'])
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  test('applies the limit to the exact number of encoded bytes', () => {
    // A text of this length has a header of three bytes.
    expect(encodePayload('x'.repeat(997), 'value', { bytes: 1_000, levels: 256 }).length).toBe(1_000)
    expect(refusalOf('x'.repeat(998), 1_000)).toMatchObject({
      path: 'value',
      reason: 'has 1001 bytes; the limit is 1000',
    })
    expect(copy({ bytes: new Uint8Array(2 * 1024 * 1024 - 40) })).toBeTruthy()
    expect(refusalOf({ bytes: new Uint8Array(2 * 1024 * 1024) }).reason).toBe(
      'has at least 2097158 bytes; the limit is 2097152 (the limit is exceeded at value.bytes)',
    )
  })

  test('rejects 100 MiB without encoding them', () => {
    const text = 'x'.repeat(100 * 1024 * 1024)
    const many = new Array(50).fill('y'.repeat(2 * 1024 * 1024 - 100))
    expect(refusalOf({ text }).reason).toContain('exceeded at value.text')
    expect(refusalOf({ many }).reason).toContain('exceeded at value.many[1]')
    expect(refusalOf(new Uint8Array(100 * 1024 * 1024)).reason).toBe(
      'has at least 104857600 bytes; the limit is 2097152',
    )
    for (const large of [{ text }, { many }]) expect(measureFastest(() => refusalOf(large))).toBeLessThan(10)
  })

  test('encodes an empty value of each kind in a few bytes', () => {
    expect(
      [{}, [], '', 0, null, true, undefined].map((value) => encodePayload(value, 'value').length),
    ).toEqual([1, 1, 1, 1, 1, 1, 4])
  })

  test('rejects a sparse array of a thousand million items at once', () => {
    const sparse: unknown[] = []
    sparse[1e9] = 1
    expect(measureFastest(() => refusalOf({ sparse }))).toBeLessThan(10)
  })

  test('accepts 256 levels, and rejects 257 and ten thousand at the same cost', () => {
    expect(findDifference(copy(nest(256)), nest(256))).toBeUndefined()
    expect(refusalOf(nest(257))).toMatchObject({ reason: 'is nested more than 256 levels deep' })
    expect(refusalOf(nest(257)).path.length).toBeLessThan(1_000)
    for (const deep of [nest(10_000), nest(1_000_000)]) {
      expect(refusalOf(deep).reason).toContain('nested more than 256')
      expect(measureFastest(() => refusalOf(deep))).toBeLessThan(10)
    }
  })

  test('counts Maps, Sets and escaped objects as one level each', () => {
    const wrap = (levels: number): unknown => {
      let value: unknown = new Date(0)
      for (let level = 0; level < levels; level++)
        value = [new Map([[1, value]]), new Set([value]), { constructor: value }, [value]][level % 4]
      return value
    }
    expect(findDifference(copy(wrap(256)), wrap(256))).toBeUndefined()
    expect(() => encodePayload(wrap(257), 'value')).toThrow('nested more than 256')
  })

  test('keeps encoded bytes unchanged if the value changes later', () => {
    const bytes = new Uint8Array([1, 2, 3])
    const value = { list: [1], bytes }
    const payload = encodePayload(value, 'value')
    value.list.push(2)
    bytes.fill(9)
    expect(decodePayload(payload)).toEqual({ list: [1], bytes: new Uint8Array([1, 2, 3]) })
  })

  test('decodes a new value on every call, without sharing its bytes', () => {
    const payload = encodePayload(
      { list: [1], bytes: new Uint8Array([5]), map: new Map([[1, { a: 1 }]]) },
      'value',
    )
    const first = decodePayload(payload) as { list: number[]; bytes: Uint8Array; map: Map<number, object> }
    first.list.push(2)
    first.bytes[0] = 6
    first.map.clear()
    expect(decodePayload(payload)).toEqual({
      list: [1],
      bytes: new Uint8Array([5]),
      map: new Map([[1, { a: 1 }]]),
    })
    expect(Object.keys(payload)).toHaveLength(payload.length)
  })

  test('decodes one object at two places as two objects', () => {
    const shared = { a: 1 }
    const [left, right] = copy([shared, shared]) as [object, object]
    expect(left).toEqual(right)
    expect(left).not.toBe(right)
  })
})

describe('the bytes of a payload', () => {
  // Logs of any age hold these: a change here is a later form.
  test.each([
    [null, 'c0'],
    [true, 'c3'],
    [127, '7f'],
    [-32, 'e0'],
    [65_536, 'ce00010000'],
    [2 ** 32, 'cb41f0000000000000'],
    [Number.POSITIVE_INFINITY, 'cb7ff0000000000000'],
    ['pawl', 'a47061776c'],
    [{ b: 1, a: [] }, '82a16201a16190'],
    [undefined, '81a10000'],
    [Number.NaN, '81a10001'],
    [-0, '81a10002'],
    [new Date(1), '81a100920301'],
    [-255n, '81a1009204a32d6666'],
    ['a\ud800', '81a1009305a161cdd800'],
    [new Map([[1, 2]]), '81a10093060102'],
    [new Set([1]), '81a100920701'],
    [JSON.parse('{"__proto__":1}'), '81a1009308a95f5f70726f746f5f5f01'],
    [Object.create(null), '81a1009109'],
    [{ '\0': 1 }, '81a1009308a10001'],
    [[new Uint8Array([1, 2]), new Int16Array([-2])], '9281a100930a000281a100930a03020102feff'],
  ])('encodes %o as %s', (value, expected) => {
    expect(hex(value)).toBe(expected)
    expect(findDifference(decodePayload(Buffer.from(expected, 'hex')), value)).toBeUndefined()
  })

  test('encodes a value without escapes as plain MessagePack', () => {
    const value = {
      id: 'A-1',
      lines: [{ sku: 'X', price: 4.5 }],
      paid: true,
      note: null,
      at: 1_700_000_000_000,
    }
    expect(unpack(encodePayload(value, 'value'))).toEqual(value)
  })

  test('encodes the same bytes whatever other libraries register with msgpackr', () => {
    const values = [new Uint8Array([1]), new Date(1), new Set([1]), undefined, { constructor: 1 }]
    const before = values.map(hex)
    for (const Class of [Uint8Array, Date, Set, Object])
      addExtension({ Class, type: 0x41, pack: () => Buffer.from('hijacked'), unpack: () => 'hijacked' })
    addExtension({ type: 0, unpack: () => 'hijacked' })
    expect(new Packr().unpack(new Packr().pack(new Uint8Array([1])))).toBe('hijacked')
    expect(values.map(hex)).toEqual(before)
    expect(values.map((value) => findDifference(copy(value), value))).toEqual(values.map(() => undefined))
  })

  test("keeps its bytes separate from msgpackr's shared buffer", () => {
    const stranger = new Packr()
    const theirs = Buffer.alloc(16_384)
    stranger.useBuffer(theirs)
    const payload = encodePayload({ a: 'mine' }, 'value')
    theirs.fill(0xff)
    expect(decodePayload(payload)).toEqual({ a: 'mine' })
    stranger.useBuffer(Buffer.alloc(8_192))
  })

  test('decodes bytes in place, even large ones', () => {
    const value = { text: 'x'.repeat(100_000), bytes: new Uint8Array(5).fill(7) }
    const payload = encodePayload(value, 'value')
    const inside = Buffer.concat([Buffer.alloc(33, 0xff), payload, Buffer.alloc(33, 0xff)])
    const part = inside.subarray(33, 33 + payload.length)
    expect(decodePayload(part)).toEqual(value)
    expect(Object.keys(part)).toHaveLength(payload.length)
  })

  test('encodes the same bytes whatever was encoded before and after', () => {
    const payloads = Array.from({ length: 2_000 }, (_, index) =>
      encodePayload({ index, text: 'x'.repeat(index) }, 'v'),
    )
    for (const [index, payload] of payloads.entries())
      expect(decodePayload(payload)).toEqual({ index, text: 'x'.repeat(index) })
  })
})
