/** Returns whether two payloads are deeply equal; the order of keys is ignored. */
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

/** Returns the type tag, which also works across realms. A Buffer counts as a Uint8Array. */
function kindOf(value: object): string {
  return Object.prototype.toString.call(value)
}

function areEqual(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, i) => isEqual(item, b[i]))
}

/** Returns the items of an array (including holes), a map, a set, or bytes. */
function itemsOf(value: object): readonly unknown[] {
  return Array.from(value as Iterable<unknown>)
}

/** Returns the keys with a defined value: an undefined member equals a missing one. */
function definedKeys(value: object): readonly string[] {
  return Object.keys(value).filter((key) => read(value, key) !== undefined)
}

function read(value: object, key: string): unknown {
  return (value as Readonly<Record<string, unknown>>)[key]
}
