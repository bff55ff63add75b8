// The stored form of a payload, read and written by the files of this folder.
//
// A payload is one MessagePack value of what JSON has too: nil, booleans, numbers, strings, arrays, and maps
// with string keys. No extension type ever stands in it: msgpackr keeps those in a register of the process,
// where any library can put its own, and runs constructors for some. What JSON lacks is escaped instead: as a
// map of the one key `escapeKey` to a tag, or to `[tag, ...parts]`. The bytes of byte arrays follow the value,
// in the order of their escapes.
//
// The form has no version byte: `laterForm` never begins a MessagePack value, so a later form begins with it.
// A new tag needs a later form too.

export const escapeKey = '\0'

export const laterForm = 0xc1

/** What a payload may have. */
export interface Limits {
  /** Encoded. */
  readonly bytes: number
  /** How many arrays, objects, Maps and Sets may stand inside one another. */
  readonly levels: number
}

/** Of a value as it comes in. */
export const valueLimits: Limits = { bytes: 2 * 1024 * 1024, levels: 256 }
/**
 * Of a record that holds such values: an answer says who gave it, a signal has its name beside it. What fitted
 * when it came in must not turn out too large when it is recorded.
 */
export const recordLimits: Limits = { bytes: valueLimits.bytes + 64 * 1024, levels: valueLimits.levels + 8 }

/** What an escape stands for, and the parts behind the tag. */
export const tags = {
  undefined: 0,
  nan: 1,
  minusZero: 2,
  /** ms since 1970 */
  date: 3,
  /** hexadecimal digits, after a minus where it is negative */
  bigint: 4,
  /** pieces: strings, and numbers for the UTF-16 units that stand in no string */
  text: 5,
  /** key, value, key, value, … */
  map: 6,
  /** items */
  set: 7,
  /** key, value, … of an object with a key that means something to msgpackr, or is no plain string */
  object: 8,
  /** key, value, … of an object without a prototype */
  bareObject: 9,
  /** place in the list of codec/byte-arrays.ts, number of bytes */
  bytes: 10,
} as const

/** A value as msgpackr reads and writes it. */
export type Plain = null | boolean | number | string | Plain[] | PlainObject
export interface PlainObject {
  [key: string]: Plain
}

/** A key that cannot be the key of a MessagePack map here. */
export function isAwkwardKey(key: string): boolean {
  // msgpackr renames __proto__, and asks `constructor` what an object is.
  return key === '__proto__' || key === 'constructor' || key === escapeKey || isAwkwardText(key)
}

/** Text that is not the same again after UTF-8: half a surrogate pair, or a mark that decoders drop at the start. */
export function isAwkwardText(text: string): boolean {
  return !isWellFormed.call(text) || text.charCodeAt(0) === byteOrderMark
}

const byteOrderMark = 0xfeff

/** Whether a number stands for a UTF-16 unit that is escaped out of a text. */
export function isAwkwardUnit(unit: number): boolean {
  return unit === byteOrderMark || (unit >= 0xd800 && unit <= 0xdfff && Number.isInteger(unit))
}

// Part of Node 20; the compiler's library for ES2023 lacks it.
const { isWellFormed } = String.prototype as unknown as { readonly isWellFormed: (this: string) => boolean }
