import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDuration, maxDurationMs, readDuration } from '../../src/base/duration.ts'

describe('a duration', () => {
  test.each([
    ['0s', 0],
    ['500ms', 500],
    ['90s', 90_000],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['3d', 259_200_000],
    ['2w', 1_209_600_000],
    ['1.5h', 5_400_000],
    ['1.1s', 1_100],
    ['.5s', 500],
    ['1e3s', 1_000_000],
    ['1e-7s', 0],
    ['0.6ms', 1],
    ['109575d', maxDurationMs],
  ])('reads %s as %d ms', (text, ms) => {
    expect(readDuration(text)).toEqual({ ms })
  })

  test.each([
    [90, "a bare number has no unit: write '90ms' or '90s'"],
    ['90', "it has no unit: write '90s' for seconds"],
    ['-5s', 'it is negative: time only goes forward'],
    ['1y', "'y' is not a unit"],
    ['5S', "'S' is not a unit"],
    ['301w2d', 'it must be a number with one unit'],
    ['NaNs', 'it must be a number with one unit'],
    ['Infinityd', 'it must be a number with one unit'],
    ['5 minutes', 'it must be a number with one unit'],
    [' 5s', 'it must be a number with one unit'],
    ['', 'it must be a number with one unit'],
    ['109576d', 'it is longer than 300 years'],
    ['1e999s', 'it is longer than 300 years'],
    [undefined, 'it must be a string'],
    [null, 'it must be a string'],
  ])('rejects the duration %s with a reason', (text, wrong) => {
    expect(readDuration(text)).toEqual({ wrong })
  })

  test('formats a duration in the largest exact unit', () => {
    const written = [0, 1, 1_000, 90_000, 60_000, 5_400_000, 86_400_000, 604_800_000].map(formatDuration)
    expect(written).toEqual(['0s', '1ms', '1s', '90s', '1m', '90m', '1d', '1w'])
  })

  test('reads a formatted duration back unchanged', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: maxDurationMs }), (ms) => {
        expect(readDuration(formatDuration(ms))).toEqual({ ms })
      }),
    )
  })

  test('reads or rejects a duration computed from any finite number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), fc.constantFrom('ms', 's', 'h', 'w'), (amount, unit) => {
        const read = readDuration(`${amount}${unit}`)
        if ('ms' in read) expect(Number.isSafeInteger(read.ms)).toBe(true)
        else expect(read.wrong).not.toBe('')
      }),
    )
  })
})
