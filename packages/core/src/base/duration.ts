/**
 * A length of time: a number and a unit in one string. Units: ms, s, m (minutes), h, d (24 h), w.
 * Template literals with a computed number are accepted too: `` `${minutes}m` ``. Use `duration` to check external text.
 * @example '500ms' '90s' '1.5h' '3d'
 */
export type Duration =
  | `${number}ms`
  | `${number}s`
  | `${number}m`
  | `${number}h`
  | `${number}d`
  | `${number}w`

/** A length of time from now, or an instant. */
export type Deadline = Duration | Date

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour
const unitMs = { ms: 1, s: second, m: minute, h: hour, d: day, w: 7 * day } as const
type Unit = keyof typeof unitMs

/** 300 years. A longer duration is a unit mistake, and instants must fit into a Date. */
export const maxDurationMs: number = 109_575 * day

/** The length in whole milliseconds, or a sentence that says what is wrong. */
export type ReadDuration = { readonly ms: number } | { readonly wrong: string }

const pattern = /^(?<sign>-?)(?<amount>\d+(?:\.\d+)?|\.\d+)(?<exponent>e[+-]?\d+)?(?<unit>[a-z]*)$/i

/** Reads a duration, rounded to the nearest millisecond. */
export function readDuration(value: unknown): ReadDuration {
  if (typeof value === 'number')
    return { wrong: `a bare number has no unit: write '${value}ms' or '${value}s'` }
  if (typeof value !== 'string') return { wrong: 'it must be a string' }
  const parts = pattern.exec(value)?.groups
  if (parts === undefined) return { wrong: 'it must be a number with one unit' }
  const { sign, amount = '', exponent = '', unit = '' } = parts
  if (unit === '') return { wrong: `it has no unit: write '${value}s' for seconds` }
  if (!isUnit(unit)) return { wrong: `'${unit}' is not a unit` }
  if (sign === '-') return { wrong: 'it is negative: time only goes forward' }
  const ms = Math.round(Number(amount + exponent) * unitMs[unit])
  if (!(ms <= maxDurationMs)) return { wrong: 'it is longer than 300 years' }
  return { ms }
}

function isUnit(text: string): text is Unit {
  return Object.hasOwn(unitMs, text)
}

/** Formats whole milliseconds in the largest exact unit. @example formatDuration(90_000) // '90s' */
export function formatDuration(ms: number): Duration {
  if (ms === 0) return '0s'
  for (const unit of ['w', 'd', 'h', 'm', 's'] as const)
    if (ms % unitMs[unit] === 0) return `${ms / unitMs[unit]}${unit}`
  return `${ms}ms`
}
