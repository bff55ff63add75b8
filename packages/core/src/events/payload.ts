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
 * The bytes of a value; undefined has none. `label` is the first word of the path in a refusal.
 * @throws PawlError 'payload-refused'
 */
export function encode(value: unknown, label: string): Uint8Array | null {
  return value === undefined ? null : encodeWithin(valueLimits, value, label)
}

/**
 * The bytes of a record around a value that somebody gave: a refusal names the place in the value, or the value.
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
        what: `${label} would fit by itself, but with what is stored around it there are more than 2 MiB, or more than 256 levels.`,
      },
    )
  }
}

/**
 * The bytes of what the engine records around values that were within their limits.
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

/** The value of recorded bytes, made afresh. @throws PayloadCorrupt, WrittenLater */
export function decode(bytes: Uint8Array | null): unknown {
  return bytes === null ? undefined : decodePayload(bytes)
}
