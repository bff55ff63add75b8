import { afterEach, beforeEach, expect, test } from 'vitest'
import { installGuard } from '../../../src/host/guard/guard.ts'
import { duringTurn, ownerOf, turnTime } from '../turn-support.ts'

// What the guard calls of Temporal; a Node that has the real one uses it.
const global = globalThis as { Temporal?: unknown }
const native = global.Temporal
const standIn = {
  Now: {
    timeZoneId: () => 'UTC',
    instant: () => 'real',
    zonedDateTimeISO: () => 'real',
    plainDateTimeISO: () => 'real',
    plainDateISO: () => 'real',
    plainTimeISO: () => 'real',
  },
  Instant: {
    fromEpochMilliseconds: (ms: number) => ({
      toString: () => new Date(ms).toISOString(),
      toZonedDateTimeISO: (zone: string) => {
        const text = new Date(ms).toISOString().slice(0, 19)
        return {
          toString: () => `${text}+00:00[${zone}]`,
          toPlainDateTime: () => text,
          toPlainDate: () => text.slice(0, 10),
          toPlainTime: () => text.slice(11),
        }
      },
    }),
  },
}

beforeEach(() => {
  if (native === undefined) global.Temporal = standIn
})
afterEach(() => {
  if (native === undefined) delete global.Temporal
})

const day = new Date(turnTime).toISOString().slice(0, 10)
const calls: readonly [method: string, zone: string | undefined, shown: string][] = [
  ['instant', undefined, `${day}T00:00:00`],
  ['zonedDateTimeISO', 'UTC', `${day}T00:00:00+00:00[UTC]`],
  ['plainDateTimeISO', 'UTC', `${day}T00:00:00`],
  ['plainDateISO', 'UTC', day],
  ['plainTimeISO', 'UTC', '00:00:00'],
]

test.each(calls)(
  'returns the time of the turn from Temporal.Now.%s, or rejects it',
  (method, zone, shown) => {
    const now = (): string => {
      const { Now } = global.Temporal as { Now: { [method: string]: (zone?: string) => unknown } }
      return String(Now[method]?.(zone))
    }
    const uninstall = installGuard('virtual')
    try {
      expect(duringTurn(ownerOf('run'), now).replace(/(\.000)?Z$/, '')).toBe(shown)
      expect(now()).not.toContain(day)
      expect(() => duringTurn(ownerOf('strict', 'error'), now)).toThrow(`Temporal.Now.${method}()`)
    } finally {
      uninstall()
    }
    expect(duringTurn(ownerOf('run'), now)).not.toContain(day)
  },
)
