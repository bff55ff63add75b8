import type { Json, JsonObject } from '@pawl/server/internal'
import { isObject } from '../api/json.ts'
import { formatNumber, plainNumber } from './number.ts'

/** A payload as a person reads it: values of types that JSON does not have become text. */
export function plainOf(value: Json): Json {
  if (Array.isArray(value)) return value.map(plainOf)
  if (!isObject(value)) return value
  return '$pawl' in value
    ? plainMarked(value)
    : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainOf(item)]))
}

function plainMarked({ $pawl: type, value }: JsonObject): Json {
  switch (type) {
    case 'bigint':
    case 'number':
    case 'date':
      return typeof value === 'string' ? value : 'Invalid Date'
    case 'undefined':
      return null
    case 'bytes':
      return `${Math.floor(((typeof value === 'string' ? value : '').replaceAll('=', '').length * 3) / 4)} bytes`
    case 'set':
      return Array.isArray(value) ? value.map(plainOf) : null
    case 'map':
      return Array.isArray(value) ? value.map(plainPair) : null
    default:
      return value === undefined ? null : plainOf(value)
  }
}

function plainPair(pair: Json): Json {
  if (!Array.isArray(pair)) return null
  const [key, item]: readonly Json[] = pair
  return [plainOf(key ?? null), plainOf(item ?? null)]
}

/** Shows a value in one line, such as `{paid: 450, card: visa}`. */
export function summaryOf(value: Json, depth = 0): string {
  if (value === null) return '–'
  // Commas separate parts, so only a number alone has the reader's decimal sign.
  if (typeof value === 'number') return depth === 0 ? formatNumber(value) : plainNumber(value)
  if (typeof value !== 'object') return String(value)
  if (Array.isArray(value))
    return depth > 1 ? '[…]' : `[${value.map((one) => summaryOf(one, depth + 1)).join(', ')}]`
  const entries = Object.entries(value)
  if (depth > 1) return '{…}'
  const parts = entries.map(([key, item]) => `${key}: ${summaryOf(item, depth + 1)}`)
  return depth === 0 ? parts.join(', ') : `{${parts.join(', ')}}`
}

/** The name of a person, without what says that it is one. */
export function nameOf(actor: string): string {
  return actor.replace(/^user:/, '')
}
