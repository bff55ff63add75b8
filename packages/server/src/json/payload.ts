/** A value as JSON can carry it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** The own key that marks a value of a type that JSON does not have. */
const mark = '$pawl'

/** Raised by `readPayload`; `path` leads to the part that could not be read. */
export class JsonError extends Error {
  readonly path: string

  constructor(path: string, message: string) {
    super(message)
    this.path = path
  }
}

/**
 * Writes a recorded payload as JSON, from which `readPayload` returns an equal value. Types that JSON does not have
 * become `{ "$pawl": type, "value": … }`. An object with its own key `$pawl` is wrapped in the same way.
 */
export function writePayload(value: unknown): Json {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return Number.isFinite(value) && !Object.is(value, -0) ? value : marked('number', showNumber(value))
    case 'bigint':
      return marked('bigint', value.toString())
    case 'undefined':
      return { [mark]: 'undefined' }
    case 'object':
      return value === null ? null : writeObject(value)
    default:
      throw new TypeError(`A payload contains a ${typeof value}.`)
  }
}

function writeObject(value: object): Json {
  if (Array.isArray(value)) return value.map(writePayload)
  if (value instanceof Date) return marked('date', Number.isNaN(value.getTime()) ? null : value.toISOString())
  if (value instanceof Map)
    return marked(
      'map',
      [...value].map(([key, item]) => [writePayload(key), writePayload(item)]),
    )
  if (value instanceof Set) return marked('set', [...value].map(writePayload))
  if (value instanceof Uint8Array) return marked('bytes', Buffer.from(value).toString('base64'))
  const entries = writeEntries(value)
  return Object.hasOwn(value, mark) ? marked('object', entries) : entries
}

function writeEntries(value: object): { readonly [key: string]: Json } {
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, writePayload(item)]))
}

function marked(type: string, value: Json): Json {
  return { [mark]: type, value }
}

function showNumber(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Maximum depth of the JSON. Core rejects values of more than 256 levels, and a wrapped value needs up to three of JSON. */
const maxDepth = 1000

/**
 * Reads what `writePayload` wrote, and plain JSON as it is.
 * @throws JsonError if a marked value cannot be read, or there are more than 1,000 levels
 */
export function readPayload(json: unknown, path = ''): unknown {
  return hasMarks(json) ? readValue(json, path) : json
}

/**
 * Returns whether JSON has a marked value: what has none is a payload as it is, and a large one is not copied.
 * @throws JsonError if there are more than 1,000 levels
 */
function hasMarks(json: unknown): boolean {
  let isFound = false
  let level = [json]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) throw new JsonError('', `it has more than ${maxDepth} levels`)
    const next: unknown[] = []
    for (const part of level) {
      if (typeof part !== 'object' || part === null) continue
      isFound ||= Object.hasOwn(part, mark)
      for (const inner of Array.isArray(part) ? part : Object.values(part))
        if (typeof inner === 'object' && inner !== null) next.push(inner)
    }
    level = next
  }
  return isFound
}

function readValue(json: unknown, path: string): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map((item, index) => readValue(item, `${path}[${index}]`))
  return Object.hasOwn(json, mark) ? readMarked(json as Marked, path) : readEntries(json, path)
}

interface Marked {
  readonly [mark]: unknown
  readonly value?: unknown
}

function readEntries(json: object, path: string): object {
  const entries = Object.entries(json)
  return Object.fromEntries(
    entries.map(([key, item]) => [key, readValue(item, path === '' ? key : `${path}.${key}`)]),
  )
}

function readMarked(json: Marked, path: string): unknown {
  const { value } = json
  switch (json[mark]) {
    case 'undefined':
      return undefined
    case 'number':
      return ['NaN', 'Infinity', '-Infinity', '-0'].includes(value as string)
        ? Number(value)
        : fail(path, "'NaN', 'Infinity', '-Infinity' or '-0'")
    case 'bigint':
      return typeof value === 'string' && /^-?\d{1,10000}$/.test(value)
        ? BigInt(value)
        : fail(path, 'an integer in a string')
    case 'date':
      return readDate(value, path)
    case 'bytes':
      return typeof value === 'string' && isBase64(value)
        ? new Uint8Array(Buffer.from(value, 'base64'))
        : fail(path, 'base64 text')
    case 'set':
      return new Set(readList(value, path).map((item, index) => readValue(item, `${path}[${index}]`)))
    case 'map':
      return new Map(readList(value, path).map((pair, index) => readPair(pair, `${path}[${index}]`)))
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
        ? readEntries(value, path)
        : fail(path, 'an object')
    default:
      throw new JsonError(
        path,
        `"${mark}" must be bigint, bytes, date, map, number, object, set or undefined`,
      )
  }
}

function readDate(value: unknown, path: string): Date {
  if (value === null) return new Date(Number.NaN)
  const date = typeof value === 'string' ? new Date(value) : new Date(Number.NaN)
  return Number.isNaN(date.getTime()) ? fail(path, 'an ISO 8601 instant or null') : date
}

function readList(value: unknown, path: string): readonly unknown[] {
  return Array.isArray(value) ? value : fail(path, 'an array')
}

function readPair(value: unknown, path: string): [unknown, unknown] {
  const [key, item, ...others] = readList(value, path)
  if (others.length > 0) fail(path, 'a pair of key and value')
  return [readValue(key, path), readValue(item, path)]
}

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
}

function fail(path: string, wanted: string): never {
  throw new JsonError(path, `its "value" must be ${wanted}`)
}
