import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipText, isWellFormed, repairText, showValue } from '../../src/base/text.ts'

const half = '\uD83D'

test('halves of pairs are replaced, whole pairs stay', () => {
  expect(repairText(`a${half}b😀`)).toBe('a\uFFFDb😀')
  expect(isWellFormed(`a${half}`)).toBe(false)
  expect(isWellFormed('a😀')).toBe(true)
})

describe('a clipped text', () => {
  test('is itself where it fits', () => {
    expect(clipText('abc', 3)).toBe('abc')
  })

  test('tells how long it was', () => {
    expect(clipText('x'.repeat(100), 40)).toBe(`${'x'.repeat(15)}… (100 characters in all)`)
  })

  test('leaves no trace of a pair it would have split', () => {
    for (const limit of [40, 41])
      expect(clipText('😀'.repeat(50), limit)).toMatch(/^(😀)+… \(100 characters in all\)$/u)
  })

  test('never exceeds its limit and never splits a pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.nat(60), (text, limit) => {
        const clipped = clipText(text, limit)
        expect(clipped.length).toBeLessThanOrEqual(Math.max(limit, 0))
        expect(isWellFormed(clipped)).toBe(true)
      }),
    )
  })
})

describe('a value in a sentence', () => {
  const hostile = new Proxy(
    {},
    {
      get: () => {
        throw new Error('no')
      },
      getPrototypeOf: () => {
        throw new Error('no')
      },
    },
  )
  const cyclic: { self?: unknown } = {}
  cyclic.self = cyclic

  test.each([
    ['ana', "'ana'"],
    [7, '7'],
    [10n, '10n'],
    [null, 'null'],
    [undefined, 'undefined'],
    [Symbol('x'), 'Symbol(x)'],
    [() => 1, 'a function'],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [new Date(Number.NaN), 'an invalid Date'],
    [new TypeError('bad'), 'TypeError: bad'],
    [{ a: [1, 'two\nlines'] }, '{"a":[1,"two\\nlines"]}'],
    [cyclic, 'a value that cannot be shown'],
    [hostile, 'a value that cannot be shown'],
    [{ toJSON: () => undefined }, 'an object'],
  ])('%# is shown on one line', (value, shown) => {
    expect(showValue(value)).toBe(shown)
  })

  test('is short', () => {
    expect(showValue('x'.repeat(10_000)).length).toBeLessThanOrEqual(120)
  })
})
