/** Equality of payloads: by value, whatever the order of keys. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const kind = kindOf(a)
  if (kind !== kindOf(b)) return false
  if (kind === '[object Date]') return Object.is(Number(a), Number(b))
  if (kind !== '[object Object]') return areEqual(itemsOf(a), itemsOf(b))
  const keys = definedKeys(a)
  return (
    keys.length === definedKeys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(read(a, key), read(b, key)))
  )
}

/** Also of another realm; a Buffer is a Uint8Array. */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value)
}

function areEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
}

/** Of an array, a map, a set, or bytes; with those of an array that were left out. */
function itemsOf(value: object): readonly unknown[] {
  return Array.from(value as Iterable<unknown>)
}

/** A member that is undefined says the same as one that is not there. */
function definedKeys(value: object): readonly string[] {
  return Object.keys(value).filter((key) => read(value, key) !== undefined)
}

function read(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key]
}
