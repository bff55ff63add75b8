/** Typed arrays that can be encoded. The index in this list is stored: append only. */
const kinds = [
  Uint8Array,
  Int8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
] as const

const names: readonly string[] = kinds.map((kind) => kind.name)

// The only name of a typed array that subclasses and other realms cannot change.
const nameGetter = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get

/**
 * Returns the index of a typed array's class, or -1 for a value that is not a payload: a DataView, a subclass.
 * Node's Buffer is the one subclass that counts, as the bytes that it is.
 */
export function kindOf(view: ArrayBufferView, className: string): number {
  const name: unknown = nameGetter?.call(view)
  return name === className || (name === 'Uint8Array' && className === 'Buffer') ? names.indexOf(name) : -1
}

/** Returns the bytes of a typed array as stored: little-endian on every machine. A view if possible. */
export function bytesOf(view: ArrayBufferView, kind: number): Uint8Array {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  return isLittleEndian ? bytes : swapBytes(bytes, widthOf(kind))
}

/** Creates a typed array with a copy of the bytes, or undefined if they do not form whole elements. */
export function makeByteArray(kind: number, bytes: Uint8Array): ArrayBufferView | undefined {
  const Kind = kinds[kind]
  if (Kind === undefined || bytes.length % Kind.BYTES_PER_ELEMENT !== 0) return undefined
  const copy = new Uint8Array(bytes.length)
  copy.set(isLittleEndian ? bytes : swapBytes(bytes, widthOf(kind)))
  return kind === 0 ? copy : new Kind(copy.buffer)
}

/** Copies bytes with the byte order of each element reversed. */
export function swapBytes(bytes: Uint8Array, width: number): Uint8Array {
  const swapped = new Uint8Array(bytes.length)
  for (let start = 0; start < bytes.length; start += width)
    swapped.set(bytes.slice(start, start + width).reverse(), start)
  return swapped
}

const isLittleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1

function widthOf(kind: number): number {
  return kinds[kind]?.BYTES_PER_ELEMENT ?? 1
}
