import { type IssueList, type Place, segmentsOf } from '../base/issues.ts'

/**
 * Checks that an edited value keeps the types of the original, and adds the differences to a list.
 * A number stays a number and a Date a Date. An object keeps its keys and the types of its members. New items of an
 * array must have the type of an original item. The types come from the value alone, so a null, undefined or empty part
 * must stay so. `at` is the path of the value.
 */
export function checkSameTypes(shown: unknown, edited: unknown, at: string, list: IssueList): void {
  const types = new Types()
  types.learn(shown)
  types.check(edited, { within: null, key: at }, list)
}

/** Holds the types of a value, or of several values at the same location. */
class Types {
  readonly #kinds = new Set<string>()
  /** The members of objects, by key. */
  #members: Map<string, { readonly types: Types; count: number }> | null = null
  #objects = 0
  /** The items of arrays and sets, and the keys and values of maps. */
  #items: Types | null = null
  #keys: Types | null = null

  learn(value: unknown): void {
    const kind = kindOf(value)
    this.#kinds.add(kind)
    if (isObject(kind, value)) return this.#learnMembers(value)
    const { items, keys } = partsOf(kind, value)
    if (keys.length > 0) this.#keys ??= new Types()
    for (const key of keys) this.#keys?.learn(key)
    if (items.length > 0) this.#items ??= new Types()
    for (const item of items) this.#items?.learn(item)
  }

  check(value: unknown, place: Place, list: IssueList): void {
    if (list.isFull) return
    const kind = kindOf(value)
    if (!this.#kinds.has(kind)) return list.add(segmentsOf(place), this.#describe())
    if (isObject(kind, value)) return this.#checkMembers(value, place, list)
    const { items, keys } = partsOf(kind, value)
    this.#checkItems(this.#keys, keys, place, list)
    this.#checkItems(this.#items, items, place, list)
  }

  #learnMembers(value: Members): void {
    this.#objects++
    this.#members ??= new Map()
    for (const [key, member] of Object.entries(value)) {
      const known = this.#members.get(key) ?? { types: new Types(), count: 0 }
      this.#members.set(key, known)
      known.types.learn(member)
      if (member !== undefined) known.count++
    }
  }

  /** Checks the members of an object. A member that only some original objects have is optional. */
  #checkMembers(value: Members, place: Place, list: IssueList): void {
    for (const [key, { count }] of this.#members ?? [])
      if (count === this.#objects && memberOf(value, key) === undefined)
        list.add([...segmentsOf(place), key], 'is missing: the original value has it')
    for (const [key, member] of Object.entries(value)) {
      if (list.isFull) return
      const known = this.#members?.get(key)
      if (member === undefined) continue
      if (known === undefined)
        list.add([...segmentsOf(place), key], 'cannot be added: the original value does not have it')
      else known.types.check(member, { within: place, key }, list)
    }
  }

  #checkItems(types: Types | null, items: readonly unknown[], place: Place, list: IssueList): void {
    if (items.length > 0 && types === null)
      return list.add(segmentsOf(place), 'must stay empty: the ask has no schema for its content')
    for (let i = 0; i < items.length && !list.isFull; i++)
      types?.check(items[i], { within: place, key: i }, list)
  }

  #describe(): string {
    const kinds = [...this.#kinds]
    const isTelling = kinds.some((kind) => kind !== 'null' && kind !== 'undefined')
    return isTelling
      ? `must be ${kinds.join(' or ')}, the type of the original value`
      : `must stay ${kinds.join(' or ')}: the ask has no schema that allows another type`
  }
}

type Members = { readonly [key: string]: unknown }

/** Returns the kind of a value. `number` is a JSON number. Bytes differ by class; a Buffer is a Uint8Array. */
function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (typeof value === 'number') return Number.isFinite(value) ? 'number' : 'a number beyond JSON'
  if (typeof value !== 'object') return typeof value
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  return name === 'Object' || name === 'Array' ? name.toLowerCase() : name
}

function isObject(kind: string, _value: unknown): _value is Members {
  return kind === 'object'
}

function partsOf(
  kind: string,
  value: unknown,
): { readonly items: readonly unknown[]; readonly keys: readonly unknown[] } {
  if (kind === 'array') return { items: value as readonly unknown[], keys: [] }
  if (kind === 'Set') return { items: [...(value as ReadonlySet<unknown>)], keys: [] }
  if (kind !== 'Map') return { items: [], keys: [] }
  const map = value as ReadonlyMap<unknown, unknown>
  return { items: [...map.values()], keys: [...map.keys()] }
}

function memberOf(value: Members, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined
}
