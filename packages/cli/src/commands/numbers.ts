import { usageError } from '../door/problem.ts'

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 }

/** Reads a duration such as 30s, in milliseconds. */
export function readDuration(flag: string, text: string): number {
  const [, amount, unit] = /^(\d{1,9})(ms|s|m|h)$/.exec(text) ?? []
  if (amount === undefined || unit === undefined)
    throw usageError(`\`${flag}\` must be a number and a unit (ms, s, m, h), such as 30s; not ${text}.`)
  return Number(amount) * (unitMs[unit] as number)
}

export function readWhole(flag: string, text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw usageError(`\`${flag}\` must be a whole number, not ${text}.`)
  return Number(text)
}
