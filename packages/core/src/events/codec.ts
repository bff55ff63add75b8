import { Packr, Unpackr } from 'msgpackr'
import { type Limits, type Plain, valueLimits } from './codec/form.ts'
import { makePlain } from './codec/plain.ts'
import { PayloadRefused } from './codec/refusal.ts'
import { restoreValue } from './codec/restore.ts'
import { scanPayload } from './codec/scan.ts'

export { isUnread, LogDamaged, PayloadCorrupt, RowCorrupt, WrittenLater } from './codec/corruption.ts'
export { type Limits, recordLimits, valueLimits } from './codec/form.ts'
export { PayloadRefused } from './codec/refusal.ts'

export const maxPayloadBytes: number = valueLimits.bytes

/**
 * Encodes a value. The bytes are the same on every machine for the same value with its keys in the same order.
 * docs/guides/payloads.md lists what can be encoded. Encoding is lossless; every other value is rejected.
 * @param label names the value in a refusal: 'result', 'input', 'answer'
 * @param limits Default: the limits of a value, 2 MiB encoded and 256 levels.
 * @throws PayloadRefused before anything is encoded
 * @example encodePayload({ total: 45n, at: new Date() }, 'result')
 */
export function encodePayload(value: unknown, label: string, limits: Limits = valueLimits): Uint8Array {
  const plain = makePlain(value, label, limits)
  const payload = joinBytes(packr.pack(plain.value), plain.byteArrays)
  if (payload.length > limits.bytes)
    throw new PayloadRefused(label, `has ${payload.length} bytes; the limit is ${limits.bytes}`)
  return payload
}

/**
 * Decodes bytes into a new value on every call. Never runs code named in the bytes.
 * @throws PayloadCorrupt if {@link encodePayload} cannot have written the bytes, WrittenLater if a later version did
 */
export function decodePayload(bytes: Uint8Array): unknown {
  const { length } = bytes
  const source = load(bytes)
  const { end, hasEscapes } = scanPayload(source, length)
  const plain: Plain = unpackr.unpack(source, end)
  return hasEscapes ? restoreValue(plain, source.subarray(end, length)) : plain
}

const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false })
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true })

const poolBytes = 64 * 1024
let pool = new Uint8Array(poolBytes)
let poolUsed = 0

/** Copies a payload out of msgpackr's buffer, which other users of msgpackr in the process also write to. */
function joinBytes(value: Uint8Array, byteArrays: readonly Uint8Array[]): Uint8Array {
  const payload = allocate(byteArrays.reduce((sum, { length }) => sum + length, value.length))
  payload.set(value)
  let end = value.length
  for (const bytes of byteArrays) {
    payload.set(bytes, end)
    end += bytes.length
  }
  return payload
}

/** Allocates a small payload from a pool: a separate buffer would cost more than the encoding. */
function allocate(length: number): Uint8Array {
  if (length > poolBytes / 16) return new Uint8Array(length)
  if (poolUsed + length > poolBytes) {
    pool = new Uint8Array(poolBytes)
    poolUsed = 0
  }
  const start = poolUsed
  poolUsed += length
  return pool.subarray(start, poolUsed)
}

const scratch = new Uint8Array(64 * 1024)

/** Returns a view or a copy to decode, since msgpackr sets a property on the buffer that it reads. */
function load(bytes: Uint8Array): Uint8Array {
  if (bytes.length > scratch.length) return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
  scratch.set(bytes)
  return scratch
}
