// The stored form of a payload, read and written by the files of this folder.
//
// A payload is one MessagePack value with the types that JSON has too: nil, booleans, numbers, strings, arrays, and maps
// with string keys. It never contains an extension type: msgpackr keeps those in a process-wide registry that any
// library can extend, and runs constructors for some. Types that JSON lacks are escaped: as a map with the one key
// `escapeKey` and a tag, or `[tag, ...parts]`, as its value. The bytes of byte arrays follow the value, in the order of
// their escapes.
//
// The form has no version byte. A later form begins with `laterForm`, which never begins a MessagePack value.
// A new tag requires a later form too.

export const escapeKey = '\0'

export const laterForm = 0xc1

/** The limits of a payload. */
export interface Limits {
  /** Maximum size, encoded, in bytes. */
  readonly bytes: number
  /** Maximum nesting depth of arrays, objects, Maps and Sets. */
  readonly levels: number
}

/** The limits of a value from the user. */
export const valueLimits: Limits = { bytes: 2 * 1024 * 1024, levels: 256 }
/**
 * The limits of a record that wraps such values: an answer with its author, a signal with its name.
 * A value that was accepted must not exceed the limit when it is recorded.
 */
export const recordLimits: Limits = { bytes: valueLimits.bytes + 64 * 1024, levels: valueLimits.levels + 8 }

/** Tags of escapes, with the parts that follow each tag. */
export const tags = {
  undefined: 0,
  nan: 1,
  minusZero: 2,
  /** ms since 1970 */
  date: 3,
  /** hexadecimal digits, preceded by a minus if negative */
  bigint: 4,
  /** pieces: strings, and numbers for UTF-16 units that no string can hold */
  text: 5,
  /** key, value, key, value, … */
  map: 6,
  /** items */
  set: 7,
  /** key, value, … of an object with a key that is special to msgpackr, or is not a plain string */
  object: 8,
  /** key, value, … of an object without a prototype */
  bareObject: 9,
  /** index in the list of codec/byte-arrays.ts, number of bytes */
  bytes: 10,
} as const

/** A value in the form that msgpackr reads and writes. */
export type Plain = null | boolean | number | string | Plain[] | PlainObject
export interface PlainObject {
  [key: string]: Plain
}

/** Returns whether a key cannot be used as the key of a MessagePack map. */
export function isAwkwardKey(key: string): boolean {
  // msgpackr renames __proto__, and reads `constructor` to classify an object.
  return key === '__proto__' || key === 'constructor' || key === escapeKey || isAwkwardText(key)
}

/** Returns whether UTF-8 would change a text: an unpaired surrogate, or a leading byte order mark, which decoders drop. */
export function isAwkwardText(text: string): boolean {
  return !isWellFormed.call(text) || text.charCodeAt(0) === byteOrderMark
}

const byteOrderMark = 0xfeff

/** Returns whether a number is a UTF-16 unit that must be escaped. */
export function isAwkwardUnit(unit: number): boolean {
  return unit === byteOrderMark || (unit >= 0xd800 && unit <= 0xdfff && Number.isInteger(unit))
}

// Node 20 has it; the compiler's library for ES2023 does not.
const { isWellFormed } = String.prototype as unknown as { readonly isWellFormed: (this: string) => boolean }
