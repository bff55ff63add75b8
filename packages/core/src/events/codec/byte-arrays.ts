/** Typed arrays that are payloads. Their place in this list is written down: only add at the end. */
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

// The one name of a typed array that no subclass and no other realm alters.
const nameGetter = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get

/**
 * The place in the list of a typed array whose class has that name; -1 for what is no payload: a DataView,
 * a subclass. Only Node's Buffer is taken for the bytes that it is.
 */
export function kindOf(view: ArrayBufferView, className: string): number {
  const name: unknown = nameGetter?.call(view)
  return name === className || (name === 'Uint8Array' && className === 'Buffer') ? names.indexOf(name) : -1
}

/** The bytes of a typed array as they are written: little-endian, on every machine. A view where possible. */
export function bytesOf(view: ArrayBufferView, kind: number): Uint8Array {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength)
  return isLittleEndian ? bytes : swapBytes(bytes, widthOf(kind))
}

/** A typed array of its own, of a copy of the bytes; undefined where they do not make whole elements. */
export function makeByteArray(kind: number, bytes: Uint8Array): ArrayBufferView | undefined {
  const Kind = kinds[kind]
  if (Kind === undefined || bytes.length % Kind.BYTES_PER_ELEMENT !== 0) return undefined
  const copy = new Uint8Array(bytes.length)
  copy.set(isLittleEndian ? bytes : swapBytes(bytes, widthOf(kind)))
  return kind === 0 ? copy : new Kind(copy.buffer)
}

/** A copy in which the bytes of each element stand the other way round. */
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
