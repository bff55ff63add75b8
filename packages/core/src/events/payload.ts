import { PawlError } from '../errors/pawl-error.ts'
import {
  decodePayload,
  encodePayload,
  type Limits,
  PayloadRefused,
  recordLimits,
  valueLimits,
} from './codec.ts'

/**
 * Encodes a value; undefined has no bytes. `label` starts the path in a refusal.
 * @throws PawlError 'payload-refused'
 */
export function encode(value: unknown, label: string): Uint8Array | null {
  return value === undefined ? null : encodeWithin(valueLimits, value, label)
}

/**
 * Encodes a record around a user's value. A refusal names the part of the value, or the whole value.
 * @throws PawlError 'payload-refused'
 */
export function encodeAround(record: object, value: unknown, label: string): Uint8Array {
  try {
    return encodeWithin(valueLimits, record, label)
  } catch (error) {
    encode(value, label)
    if (!PawlError.is(error, 'payload-refused')) throw error
    throw new PawlError(
      'payload-refused',
      { path: label },
      {
        what: `${label} is within the limits by itself, but exceeds 2 MiB or 256 levels with the data stored around it.`,
      },
    )
  }
}

/**
 * Encodes a record of the engine around values that were within their limits.
 * @throws PawlError 'payload-refused'
 */
export function encodeRecord(value: object, label: string): Uint8Array {
  return encodeWithin(recordLimits, value, label)
}

function encodeWithin(limits: Limits, value: unknown, label: string): Uint8Array {
  try {
    return encodePayload(value, label, limits)
  } catch (error) {
    if (!(error instanceof PayloadRefused)) throw error
    throw new PawlError('payload-refused', { path: error.path }, { what: `${error.message}.` })
  }
}

/** Decodes recorded bytes into a new value. @throws PayloadCorrupt, WrittenLater */
export function decode(bytes: Uint8Array | null): unknown {
  return bytes === null ? undefined : decodePayload(bytes)
}
