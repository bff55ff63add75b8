import { sinceServerTime } from '../api/connection.ts'

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** A span in its largest unit, such as `3 h`, `12 ms`. */
export function formatSpan(ms: number): string {
  const length = Math.max(0, ms)
  for (const [unit, size] of units) if (length >= size) return inUnit(Math.round(length / size), unit)
  return inUnit(Math.round(length), 'millisecond')
}

/** A span whose milliseconds mean nothing, such as an age. */
export function formatAge(ms: number): string {
  return formatSpan(Math.max(1_000, ms))
}

function inUnit(count: number, unit: string): string {
  return new Intl.NumberFormat('en', {
    style: 'unit',
    unit,
    unitDisplay: unit === 'day' ? 'long' : 'short',
  }).format(count)
}

export function sinceNow(instant: string): number {
  return sinceServerTime(Date.parse(instant))
}

/** An instant in the reader's own time zone, with its name. */
export function formatInstant(instant: string): string {
  const date = new Date(instant)
  if (Number.isNaN(date.getTime())) return instant
  return new Intl.DateTimeFormat(undefined, {
    dateStyle: 'medium',
    timeStyle: 'long',
  }).format(date)
}

/** An instant as a clock shows it, with its date unless that is today. */
export function formatClock(instant: string): string {
  const date = new Date(instant)
  const isToday = date.toDateString() === new Date().toDateString()
  return new Intl.DateTimeFormat(undefined, {
    ...(isToday ? {} : { dateStyle: 'medium' as const }),
    timeStyle: 'short',
  }).format(date)
}

/** An instant, in ms, as a clock with seconds shows it. */
export function formatTime(at: number): string {
  return new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' }).format(at)
}

/** An instant of the server in ms. */
export function serverTime(instant: string): number {
  return Date.parse(instant)
}
