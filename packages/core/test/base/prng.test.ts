import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createChance } from '../../src/base/prng.ts'

const counting = Uint8Array.from({ length: 16 }, (_, index) => index)
const seeds = fc.uint8Array({ minLength: 16, maxLength: 16 })

describe('the generator of a seed', () => {
  // Runs of any age draw these again when they are replayed: a change here breaks them.
  test('generates the same values as in every earlier version', () => {
    const chance = createChance(counting)
    expect([chance.random(), chance.random(), chance.random()]).toEqual([
      0.6292342552646152, 0.10072688518278228, 0.4776489705999821,
    ])
    expect([chance.uuid(), chance.uuid()]).toEqual([
      '5c6e03b3-d3ad-4f31-b825-f1bff4a4ba26',
      '7a60b3d5-363b-47c7-b9b7-44e5b2c4640e',
    ])
    expect(chance.random()).toBe(0.13662174170375396)
    expect(createChance(new Uint8Array(16)).random()).toBe(0.9817317219131122)
    expect(createChance(new Uint8Array(16).fill(255)).random()).toBe(0.4780727901471077)
  })

  test('generates the values of a plain implementation of sfc32', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const chance = createChance(seed)
        const next = createReference(seed)
        for (let count = 0; count < 20; count++) {
          const bits = (next() >> 5n) * 2n ** 26n + (next() >> 6n)
          expect(chance.random()).toBe(Number(bits) / 2 ** 53)
        }
      }),
    )
  })

  test('generates the same values for the same seed, wherever its bytes are in a buffer', () => {
    const inside = Uint8Array.of(9, 9, 9, ...counting).subarray(3)
    expect(createChance(inside).uuid()).toBe(createChance(counting).uuid())
  })

  test('generates other values if one bit of the seed changes', () => {
    const first = Array.from({ length: 128 }, (_, bit) => {
      const seed = counting.slice()
      seed[bit >> 3] = (seed[bit >> 3] as number) ^ (1 << (bit & 7))
      return createChance(seed).random()
    })
    expect(new Set(first).size).toBe(128)
  })

  test('generates evenly distributed numbers in [0, 1)', () => {
    const chance = createChance(counting)
    const buckets = new Array<number>(16).fill(0)
    const drawnAll = Array.from({ length: 160_000 }, () => chance.random())
    expect(drawnAll.every((drawn) => drawn >= 0 && drawn < 1)).toBe(true)
    for (const drawn of drawnAll) {
      const bucket = Math.floor(drawn * 16)
      buckets[bucket] = (buckets[bucket] as number) + 1
    }
    for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  })

  test('generates distinct v4 UUIDs', () => {
    const chance = createChance(counting)
    const drawn = Array.from({ length: 10_000 }, () => chance.uuid())
    for (const id of drawn)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(new Set(drawn).size).toBe(10_000)
    for (const variant of '89ab')
      expect(drawn.filter((id) => id[19] === variant).length).toBeGreaterThan(2_000)
  })

  test('rejects a seed of another length', () => {
    expect(() => createChance(new Uint8Array(15))).toThrow('a seed must have 16 bytes; this one has 15')
    expect(() => createChance(new Uint8Array(17))).toThrow(RangeError)
  })
})

/** sfc32 on integers without a limit. */
function createReference(seed: Uint8Array): () => bigint {
  const mask = 2n ** 32n - 1n
  const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength)
  let [a, b, c, counter] = [0, 4, 8, 12].map((offset) => BigInt(view.getUint32(offset))) as [
    bigint,
    bigint,
    bigint,
    bigint,
  ]
  const next = (): bigint => {
    const result = (a + b + counter) & mask
    counter = (counter + 1n) & mask
    a = b ^ (b >> 9n)
    b = (c + (c << 3n)) & mask
    c = ((((c << 21n) & mask) | (c >> 11n)) + result) & mask
    return result
  }
  for (let count = 0; count < 16; count++) next()
  return next
}
