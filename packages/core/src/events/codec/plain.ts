import { bytesOf, kindOf } from './byte-arrays.ts'
import {
  escapeKey,
  isAwkwardKey,
  isAwkwardText,
  type Limits,
  type Plain,
  type PlainObject,
  tags,
} from './form.ts'
import { type Segment, showPath } from './path.ts'
import { classNameOf, describeInstance, PayloadRefused, refuse } from './refusal.ts'

/** A value in its stored form, before msgpackr encodes it. */
export interface PlainPayload {
  readonly value: Plain
  readonly byteArrays: readonly Uint8Array[]
}

/**
 * Copies a value into its stored form and reads every property once.
 * The checked value is then the written one, even if a proxy answers differently each time.
 * @throws PayloadRefused naming the first part that cannot be recorded
 */
export function makePlain(value: unknown, label: string, limits: Limits): PlainPayload {
  const copier = new Copier(label, limits)
  try {
    return { value: copier.copy(value, 0), byteArrays: copier.byteArrays }
  } catch (error) {
    if (error instanceof PayloadRefused) throw error
    return copier.refuseUnreadable(error)
  }
}

// Captured at load, for brand checks that no class can fake.
const { getOwnPropertyDescriptor, getOwnPropertyNames, getOwnPropertySymbols, getPrototypeOf, hasOwn } =
  Object
const { __lookupGetter__: lookupGetter } = Object.prototype as unknown as {
  readonly __lookupGetter__: (this: object, key: PropertyKey) => unknown
}
const { getTime } = Date.prototype
const { forEach: forEachEntry } = Map.prototype
const { forEach: forEachItem } = Set.prototype
const plainPrototype = Object.prototype
const datePrototype = Date.prototype

class Copier {
  readonly byteArrays: Uint8Array[] = []
  /** The objects around the current value, outermost first, and the step from each to the next. */
  private readonly holders: object[] = []
  private readonly trail: Segment[] = []
  private depth = 0
  /** A lower bound of the bytes so far, so that a huge value is rejected before it is copied. */
  private size = 0
  private readonly label: string
  private readonly limits: Limits

  constructor(label: string, limits: Limits) {
    this.label = label
    this.limits = limits
  }

  /** Copies a value; `depth` is the number of holders. */
  copy(value: unknown, depth: number): Plain {
    switch (typeof value) {
      case 'string':
        return this.copyText(value, depth)
      case 'number':
        return copyNumber(value)
      case 'boolean':
        return value
      case 'object':
        return value === null ? null : this.copyObject(value, depth)
      case 'undefined':
        return { [escapeKey]: tags.undefined }
      case 'bigint':
        return { [escapeKey]: [tags.bigint, this.copyText(value.toString(16), depth)] }
      default:
        return this.refuse(depth, `is a ${typeof value}`)
    }
  }

  refuseUnreadable(error: unknown): never {
    const why = error instanceof Error ? error.message : String(error)
    return this.refuse(this.depth, `cannot be read: ${why}`)
  }

  private copyText(text: string, depth: number): Plain {
    this.grow(text.length, depth)
    return isAwkwardText(text) ? { [escapeKey]: [tags.text, ...splitText(text)] } : text
  }

  private copyObject(value: object, depth: number): Plain {
    this.holders[depth] = value
    this.depth = depth
    const copy = this.copyHolder(value, depth)
    this.depth = depth - 1
    return copy
  }

  private copyHolder(value: object, depth: number): Plain {
    const prototype: object | null = getPrototypeOf(value)
    if (prototype === plainPrototype) return this.copyPlainObject(value, depth)
    if (prototype === null) return this.copyEntries(value, this.keysOf(value, depth), depth, tags.bareObject)
    if (Array.isArray(value) && Array.isArray(prototype)) return this.copyArray(value, depth)
    if (ArrayBuffer.isView(value)) return this.copyBytes(value, classNameOf(prototype), depth)
    // Fake clocks replace the global Date.
    if (prototype === datePrototype || prototype === globalThis.Date.prototype)
      return this.copyDate(value, depth)
    if (prototype === Map.prototype) return this.copyMap(value as Map<unknown, unknown>, depth)
    if (prototype === Set.prototype) return this.copySet(value as Set<unknown>, depth)
    if (isPlainPrototype(prototype)) return this.copyPlainObject(value, depth)
    return this.refuse(depth, describeInstance(value, classNameOf(prototype)))
  }

  private copyPlainObject(value: object, depth: number): Plain {
    const keys = this.keysOf(value, depth)
    for (const key of keys) if (isAwkwardKey(key)) return this.copyEntries(value, keys, depth, tags.object)
    const copy: PlainObject = {}
    for (const key of keys) copy[key] = this.copyProperty(value, key, depth)
    return copy
  }

  private copyEntries(value: object, keys: readonly string[], depth: number, tag: number): Plain {
    const parts: Plain[] = [tag]
    for (const key of keys) {
      const copied = this.copyProperty(value, key, depth)
      parts.push(this.copyText(key, depth), copied)
    }
    return { [escapeKey]: parts }
  }

  private keysOf(value: object, depth: number): readonly string[] {
    const [symbol] = getOwnPropertySymbols(value)
    if (symbol !== undefined) this.refuse(depth, `has a symbol as a key, ${String(symbol)}`)
    const keys = getOwnPropertyNames(value)
    this.descend(keys.length, depth)
    return keys
  }

  private copyProperty(value: object, key: string, depth: number): Plain {
    this.trail[depth] = key
    this.size += key.length
    const property = getOwnPropertyDescriptor(value, key)
    if (property === undefined) return this.refuse(depth + 1, 'is listed but cannot be read')
    if (property.get !== undefined || property.set !== undefined)
      return this.refuse(depth + 1, 'is an accessor (a getter or setter): pass its value')
    if (!property.enumerable) return this.refuse(depth + 1, 'is not enumerable and would be lost')
    return this.copy(property.value, depth + 1)
  }

  private copyArray(value: readonly unknown[], depth: number): Plain {
    const { length } = value
    this.descend(length, depth)
    const [symbol] = getOwnPropertySymbols(value)
    if (symbol !== undefined) this.refuse(depth, `has a symbol as a key, ${String(symbol)}`)
    if (Object.keys(value).length !== length) this.refuseOddArray(value, depth)
    const copy: Plain[] = []
    for (let index = 0; index < length; index++) {
      this.trail[depth] = index
      if (lookupGetter.call(value, index) !== undefined)
        this.refuse(depth + 1, 'is an accessor (a getter or setter): pass its value')
      const item = value[index]
      if (item === undefined && !hasOwn(value, index)) this.refuse(depth + 1, 'is a hole in a sparse array')
      copy.push(this.copy(item, depth + 1))
    }
    return copy
  }

  private copyDate(value: object, depth: number): Plain {
    const ms = brandOf(value, getTime)
    if (ms === undefined) return this.refuse(depth, describeInstance(value, 'Date'))
    this.refuseExtras(value, depth)
    return Number.isNaN(ms) ? this.refuse(depth, 'is an invalid Date') : { [escapeKey]: [tags.date, ms] }
  }

  private copyMap(value: Map<unknown, unknown>, depth: number): Plain {
    this.refuseExtras(value, depth)
    this.descend(value.size * 2, depth)
    const parts: Plain[] = [tags.map]
    forEachEntry.call(value, (item, key) => {
      this.trail[depth] = { method: 'keys', key: (parts.length - 1) / 2 }
      const copiedKey = this.copy(key, depth + 1)
      this.trail[depth] = isPrimitive(key)
        ? { method: 'get', key }
        : { method: 'values', key: (parts.length - 1) / 2 }
      parts.push(copiedKey, this.copy(item, depth + 1))
    })
    return { [escapeKey]: parts }
  }

  private copySet(value: Set<unknown>, depth: number): Plain {
    this.refuseExtras(value, depth)
    this.descend(value.size, depth)
    const parts: Plain[] = [tags.set]
    forEachItem.call(value, (item) => {
      this.trail[depth] = { method: 'values', key: parts.length - 1 }
      parts.push(this.copy(item, depth + 1))
    })
    return { [escapeKey]: parts }
  }

  private copyBytes(value: ArrayBufferView, className: string, depth: number): Plain {
    const kind = kindOf(value, className)
    if (kind < 0) return this.refuse(depth, describeInstance(value, className))
    this.grow(value.byteLength, depth)
    this.byteArrays.push(bytesOf(value, kind))
    return { [escapeKey]: [tags.bytes, kind, value.byteLength] }
  }

  /** Enters an object, of which each part takes at least one byte. */
  private descend(count: number, depth: number): void {
    if (depth >= this.limits.levels) this.refuseDeep(depth)
    this.grow(count, depth)
  }

  private grow(bytes: number, depth: number): void {
    this.size += bytes
    if (this.size > this.limits.bytes) this.refuseLarge(depth)
  }

  private refuse(depth: number, reason: string): never {
    return refuse(this.label, this.trail.slice(0, depth), reason)
  }

  private refuseLarge(depth: number): never {
    this.refuseCycle(depth)
    const at = depth === 0 ? '' : ` (the limit is exceeded at ${this.pathOf(depth)})`
    return this.refuse(0, `has at least ${this.size} bytes; the limit is ${this.limits.bytes}${at}`)
  }

  private refuseDeep(depth: number): never {
    this.refuseCycle(depth + 1)
    return this.refuse(depth, `is nested more than ${this.limits.levels} levels deep`)
  }

  /** Looks for a cycle; called only once the payload is too deep or too large. */
  private refuseCycle(depth: number): void {
    for (let inner = 1; inner < depth; inner++) {
      const outer = this.holders.indexOf(this.holders[inner] as object)
      if (outer < inner) this.refuse(inner, `refers back to ${this.pathOf(outer)}`)
    }
  }

  private refuseOddArray(value: readonly unknown[], depth: number): never {
    const keys = Object.keys(value)
    const index = keys.findIndex((key, place) => key !== String(place))
    const key = keys[index]
    if (key !== undefined && index >= value.length)
      return this.refuse(depth, `has a property ${JSON.stringify(key)} beside its items, which would be lost`)
    this.trail[depth] = key === undefined ? keys.length : index
    return this.refuse(depth + 1, 'is a hole in a sparse array')
  }

  private refuseExtras(value: object, depth: number): void {
    const [key] = [...Object.keys(value), ...getOwnPropertySymbols(value)]
    if (key !== undefined) this.refuse(depth, `has an extra property ${String(key)}, which would be lost`)
  }

  private pathOf(depth: number): string {
    return showPath(this.label, this.trail.slice(0, depth))
  }
}

function copyNumber(value: number): Plain {
  // NaN has many bit patterns, and they differ between machines.
  if (Number.isNaN(value)) return { [escapeKey]: tags.nan }
  return value === 0 && 1 / value < 0 ? { [escapeKey]: tags.minusZero } : value
}

/** Splits a text into encodable strings and, as numbers, the units between them that no string can hold. */
function splitText(text: string): Plain[] {
  return text
    .split(/([\p{Surrogate}\uFEFF])/u)
    .filter((piece) => piece !== '')
    .map((piece) => (isAwkwardText(piece) ? piece.charCodeAt(0) : piece))
}

function isPrimitive(value: unknown): boolean {
  return value === null || (typeof value !== 'object' && typeof value !== 'function')
}

/** Returns whether it is the prototype of plain objects in another realm. */
function isPlainPrototype(prototype: object): boolean {
  return getPrototypeOf(prototype) === null && hasOwn(prototype, 'isPrototypeOf')
}

/** Returns the result of a built-in method, or undefined if the object is of another kind. */
function brandOf<T>(value: object, method: (this: never) => T): T | undefined {
  try {
    return method.call(value as never)
  } catch {
    return undefined
  }
}
