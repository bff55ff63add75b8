import { deepStrictEqual } from 'node:assert'
import { inspect, types } from 'node:util'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { installGuard } from '../../../src/host/guard/guard.ts'
import { duringTurn, ownerOf, turnTime } from '../turn-support.ts'

const NativeDate = Date
class Early extends Date {}
const run = ownerOf('run')

describe('the guarded Date', () => {
  let uninstall: () => void
  beforeEach(() => {
    uninstall = installGuard('virtual')
  })
  afterEach(() => uninstall())

  test('returns the time of the turn', () => {
    duringTurn(run, () => {
      expect(Date.now()).toBe(turnTime)
      expect(new Date().getTime()).toBe(turnTime)
      expect(Date()).toBe(new NativeDate(turnTime).toString())
    })
  })

  test('returns the real time outside turns, and in turns of runs without determinism', () => {
    const expectReal = () => {
      expect(Math.abs(Date.now() - NativeDate.now())).toBeLessThan(60_000)
      expect(Math.abs(new Date().getTime() - NativeDate.now())).toBeLessThan(60_000)
      expect(Math.abs(NativeDate.parse(Date()) - NativeDate.now())).toBeLessThan(60_000)
    }
    expectReal()
    duringTurn(ownerOf('other', 'off'), expectReal)
  })

  test('constructs given dates as usual, in turns and outside', () => {
    const expectGiven = () => {
      expect(new Date(7).getTime()).toBe(7)
      expect(new Date('2026-02-03T04:05:06Z').getTime()).toBe(NativeDate.UTC(2026, 1, 3, 4, 5, 6))
      expect(new Date(2026, 1, 3, 4, 5, 6, 7).getTime()).toBe(
        new NativeDate(2026, 1, 3, 4, 5, 6, 7).getTime(),
      )
      expect(new Date(new Date(8)).getTime()).toBe(8)
      expect(new Date(undefined as never).getTime()).toBeNaN()
      expect(Date.UTC(1970, 0, 2)).toBe(86_400_000)
      expect(Date.parse('1970-01-02T00:00:00Z')).toBe(86_400_000)
      // As a function it ignores what it is given.
      expect((Date as unknown as (value: number) => string)(0)).toBe(Date())
    }
    expectGiven()
    duringTurn(run, expectGiven)
    duringTurn(ownerOf('strict', 'error'), () => expect(new Date(7).getTime()).toBe(7))
  })

  test('shares instanceof with the native Date, in both directions', () => {
    const dates = [new Date(7), new NativeDate(7), new Early(7), duringTurn(run, () => new Date())]
    for (const date of dates) {
      expect(date).toBeInstanceOf(Date)
      expect(date).toBeInstanceOf(NativeDate)
      expect(types.isDate(date)).toBe(true)
    }
    deepStrictEqual(new Date(7), new NativeDate(7))
    expect(structuredClone(new Date(7)).getTime()).toBe(7)
    expect(inspect(new Date(7))).toBe('1970-01-01T00:00:00.007Z')
  })

  test('is recognized by libraries that compare dates by their constructor', () => {
    const equal = (a: object, b: object) =>
      a.constructor === b.constructor &&
      a.constructor === Date &&
      (a as Date).getTime() === (b as Date).getTime()
    expect(equal(new Date(1), new Date(1))).toBe(true)
    expect(equal(new NativeDate(1), new Date(1))).toBe(true)
    expect(equal(new Date(1), new Date(2))).toBe(false)
  })

  test('can be subclassed', () => {
    class Late extends Date {
      get year(): number {
        return this.getUTCFullYear()
      }
    }
    const late = duringTurn(run, () => new Late())
    expect([late instanceof Late, late instanceof Date, late.getTime(), late.year]).toEqual([
      true,
      true,
      turnTime,
      1970,
    ])
    expect(Math.abs(new Late().getTime() - NativeDate.now())).toBeLessThan(60_000)
  })

  test('looks like the native Date', () => {
    expect([Date.name, Date.length, Date.now.name, Date.prototype]).toEqual([
      'Date',
      7,
      'now',
      NativeDate.prototype,
    ])
    expect(Object.getOwnPropertyDescriptor(globalThis, 'Date')).toMatchObject({
      writable: true,
      enumerable: false,
    })
    expect(Object.keys(Date.prototype)).toEqual([])
  })

  test('restores the native Date afterwards', () => {
    uninstall()
    expect(Date).toBe(NativeDate)
    expect(Date.prototype.constructor).toBe(NativeDate)
    expect(Object.keys(Date.prototype)).toEqual([])
  })

  test('keeps a fake that was installed later, and works after the fake is removed', () => {
    const guarded = Date
    vi.useFakeTimers({ now: 5, toFake: ['Date'] })
    uninstall()
    expect(Date.now()).toBe(5)
    vi.useRealTimers()
    expect(Date).toBe(guarded)
    expect(new Date().constructor).toBe(Date)
    expect(Math.abs(Date.now() - NativeDate.now())).toBeLessThan(60_000)
    globalThis.Date = NativeDate
    NativeDate.prototype.constructor = NativeDate
  })
})

describe('the refused Date', () => {
  test.each<[string, () => unknown]>([
    ['Date.now()', () => Date.now()],
    ['new Date()', () => new Date()],
    ['Date()', () => Date()],
  ])('suggests ctx.now() for %s', (call, use) => {
    const uninstall = installGuard('error')
    try {
      expect(() => duringTurn(ownerOf('strict', 'error'), use)).toThrow(
        expect.objectContaining({ code: 'nondeterministic-call', details: { call, use: 'ctx.now()' } }),
      )
      expect(use).not.toThrow()
    } finally {
      uninstall()
    }
  })
})
