// Encodes list parameters as PostgreSQL's binary arrays. A batch of commits has twenty lists. As array literals,
// which are text, they cost both sides more time than the rest of the statement.

/** The element type of a list. */
interface Element<Value> {
  /** OID of the type, the same in every database. */
  readonly oid: number
  bytesOf(value: Value): number
  put(value: Value, buffer: Buffer, at: number): void
}

const smallint: Element<number> = {
  oid: 21,
  bytesOf: () => 2,
  put: (value, buffer, at) => buffer.writeInt16BE(checkWhole(value), at),
}
const integer: Element<number> = {
  oid: 23,
  bytesOf: () => 4,
  put: (value, buffer, at) => buffer.writeInt32BE(checkWhole(value), at),
}
const bigint: Element<number> = {
  oid: 20,
  bytesOf: () => 8,
  put(value, buffer, at) {
    const upper = Math.floor(checkWhole(value) / 2 ** 32)
    buffer.writeInt32BE(upper, at)
    buffer.writeUInt32BE(value - upper * 2 ** 32, at + 4)
  },
}
const boolean: Element<boolean> = {
  oid: 16,
  bytesOf: () => 1,
  put: (value, buffer, at) => buffer.writeUInt8(value ? 1 : 0, at),
}
const text: Element<string> = {
  oid: 25,
  bytesOf: (value) => Buffer.byteLength(value),
  put: (value, buffer, at) => buffer.write(value, at),
}
const bytea: Element<Uint8Array> = {
  oid: 17,
  bytesOf: (value) => value.length,
  put: (value, buffer, at) => buffer.set(value, at),
}

type Maybe<Value> = readonly (Value | null)[]

/** Encodes an `int2[]`. @throws RangeError for a number out of range, like all number lists */
export const listSmallints = (values: Maybe<number>): Buffer => write(smallint, values)
/** Encodes an `int[]`. */
export const listIntegers = (values: Maybe<number>): Buffer => write(integer, values)
/** Encodes a `bigint[]`. */
export const listBigints = (values: Maybe<number>): Buffer => write(bigint, values)
export const listBooleans = (values: Maybe<boolean>): Buffer => write(boolean, values)
export const listTexts = (values: Maybe<string>): Buffer => write(text, values)
export const listBytes = (values: Maybe<Uint8Array>): Buffer => write(bytea, values)

/** Returns the array literal of a nested list, because `unnest` would flatten an array of arrays. */
export function writeLiteral(texts: readonly string[]): string {
  return `{${texts.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(',')}}`
}

/** Number of dimensions, null flag, element type; then size and lower bound of the only dimension. */
const headBytes = 5 * 4

function write<Value>(element: Element<Value>, values: Maybe<Value>): Buffer {
  let bytes = headBytes
  for (const value of values) bytes += 4 + (value === null ? 0 : element.bytesOf(value))
  const buffer = Buffer.allocUnsafe(bytes)
  let hasNull = 0
  let at = headBytes
  for (const value of values) {
    if (value === null) {
      hasNull = 1
      at = buffer.writeInt32BE(-1, at)
      continue
    }
    const size = element.bytesOf(value)
    at = buffer.writeInt32BE(size, at)
    element.put(value, buffer, at)
    at += size
  }
  buffer.writeInt32BE(1, 0)
  buffer.writeInt32BE(hasNull, 4)
  buffer.writeInt32BE(element.oid, 8)
  buffer.writeInt32BE(values.length, 12)
  buffer.writeInt32BE(1, 16)
  return buffer
}

function checkWhole(value: number): number {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no whole number that can be stored.`)
  return value
}
