import { makeByteArray } from './byte-arrays.ts'
import { PayloadCorrupt } from './corruption.ts'
import { escapeKey, isAwkwardUnit, type Plain, type PlainObject, tags } from './form.ts'

/**
 * Replaces escapes with the values they encode. `plain` becomes part of the result.
 * @throws PayloadCorrupt
 */
export function restoreValue(plain: Plain, byteArrays: Uint8Array): unknown {
  const restorer = new Restorer(byteArrays)
  const value = restorer.restore(plain)
  restorer.finish()
  return value
}

class Restorer {
  private readonly bytes: Uint8Array
  private used = 0

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
  }

  restore(plain: Plain): unknown {
    if (typeof plain !== 'object' || plain === null) return plain
    if (Array.isArray(plain)) return this.restoreItems(plain, 0)
    const escaped = plain[escapeKey]
    return escaped === undefined ? this.restoreObject(plain) : this.unescape(escaped)
  }

  finish(): void {
    if (this.used !== this.bytes.length) throw new PayloadCorrupt('has bytes that nothing refers to')
  }

  /** Restores items in place. */
  private restoreItems(items: Plain[], from: number): unknown[] {
    const restored: unknown[] = items
    for (let index = from; index < items.length; index++)
      restored[index] = this.restore(items[index] as Plain)
    return restored
  }

  /** Restores members in place. */
  private restoreObject(object: PlainObject): object {
    const restored: Record<string, unknown> = object
    for (const key of Object.keys(object)) restored[key] = this.restore(object[key] as Plain)
    return restored
  }

  private unescape(escaped: Plain): unknown {
    if (!Array.isArray(escaped)) return unescapeSimple(escaped)
    const [tag] = escaped
    switch (tag) {
      case tags.date:
        return unescapeDate(escaped)
      case tags.bigint:
        return unescapeBigint(escaped)
      case tags.text:
        return unescapeText(escaped)
      case tags.map:
        return new Map(this.unescapeEntries(escaped))
      case tags.set:
        return this.unescapeSet(escaped)
      case tags.object:
        return this.unescapeObject(escaped, {})
      case tags.bareObject:
        return this.unescapeObject(escaped, Object.create(null))
      case tags.bytes:
        return this.unescapeBytes(escaped)
      default:
        return refuseEscape(escaped)
    }
  }

  private unescapeEntries(escaped: Plain[]): [unknown, unknown][] {
    if (escaped.length % 2 === 0) return refuseEscape(escaped)
    const parts = this.restoreItems(escaped, 1)
    const entries: [unknown, unknown][] = []
    for (let index = 1; index < parts.length; index += 2) entries.push([parts[index], parts[index + 1]])
    return entries
  }

  private unescapeSet(escaped: Plain[]): Set<unknown> {
    const [, ...items] = this.restoreItems(escaped, 1)
    return new Set(items)
  }

  private unescapeObject(escaped: Plain[], target: object): object {
    for (const [key, value] of this.unescapeEntries(escaped)) {
      if (typeof key !== 'string') return refuseEscape(escaped)
      // Not by assignment, which would set the prototype for __proto__.
      Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
    }
    return target
  }

  private unescapeBytes(escaped: Plain[]): ArrayBufferView {
    const [, kind, length] = escaped
    if (typeof kind !== 'number' || typeof length !== 'number') return refuseEscape(escaped)
    const start = this.used
    this.used += length
    return makeByteArray(kind, this.bytes.subarray(start, this.used)) ?? refuseEscape(escaped)
  }
}

function unescapeSimple(tag: Plain): unknown {
  switch (tag) {
    case tags.undefined:
      return undefined
    case tags.nan:
      return Number.NaN
    case tags.minusZero:
      return -0
    default:
      return refuseEscape(tag)
  }
}

function unescapeDate(escaped: Plain[]): Date {
  const [, ms] = escaped
  const date = new Date(typeof ms === 'number' ? ms : Number.NaN)
  return escaped.length === 2 && date.getTime() === ms ? date : refuseEscape(escaped)
}

function unescapeBigint(escaped: Plain[]): bigint {
  const [, text] = escaped
  if (escaped.length !== 2 || typeof text !== 'string' || !/^(0|-?[1-9a-f][0-9a-f]*)$/.test(text))
    return refuseEscape(escaped)
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`)
}

function unescapeText(escaped: Plain[]): string {
  const [, ...pieces] = escaped
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece
      return typeof piece === 'number' && isAwkwardUnit(piece)
        ? String.fromCharCode(piece)
        : refuseEscape(escaped)
    })
    .join('')
}

function refuseEscape(escaped: Plain): never {
  const tag = Array.isArray(escaped) ? escaped[0] : escaped
  throw new PayloadCorrupt(`has an unknown escape (tag ${typeof tag === 'number' ? tag : typeof tag})`)
}
