import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clipText, isWellFormed, repairText, showValue } from '../../src/base/text.ts'

const half = '\uD83D'

test('replaces unpaired surrogates and keeps pairs', () => {
  expect(repairText(`a${half}b😀`)).toBe('a\uFFFDb😀')
  expect(isWellFormed(`a${half}`)).toBe(false)
  expect(isWellFormed('a😀')).toBe(true)
})

describe('truncated text', () => {
  test('keeps a text within the limit', () => {
    expect(clipText('abc', 3)).toBe('abc')
  })

  test('appends the original length to a truncated text', () => {
    expect(clipText('x'.repeat(100), 40)).toBe(`${'x'.repeat(15)}… (100 characters in all)`)
  })

  test('removes a surrogate pair that truncation would split', () => {
    for (const limit of [40, 41])
      expect(clipText('😀'.repeat(50), limit)).toMatch(/^(😀)+… \(100 characters in all\)$/u)
  })

  test('truncates any text to its limit without splitting a pair', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.nat(60), (text, limit) => {
        const clipped = clipText(text, limit)
        expect(clipped.length).toBeLessThanOrEqual(Math.max(limit, 0))
        expect(isWellFormed(clipped)).toBe(true)
      }),
    )
  })
})

describe('a value in a message', () => {
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
  ])('formats value %# on one line', (value, shown) => {
    expect(showValue(value)).toBe(shown)
  })

  test('truncates a long value in a message', () => {
    expect(showValue('x'.repeat(10_000)).length).toBeLessThanOrEqual(120)
  })
})
