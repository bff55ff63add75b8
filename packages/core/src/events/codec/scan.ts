import { PayloadCorrupt, WrittenLater } from './corruption.ts'
import { escapeKey, laterForm, recordLimits, tags } from './form.ts'

/** Where the value ends and its byte arrays begin, and whether it has escapes. */
export interface Scanned {
  readonly end: number
  readonly hasEscapes: boolean
}

/**
 * Checks stored bytes before msgpackr reads them, and rejects everything the encoder does not write.
 * That is extension types, records, other tokens, and invalid UTF-8. Each element takes at least one byte, so the scan
 * ends with the bytes, whatever lengths they claim, before anything is allocated.
 * @throws PayloadCorrupt
 */
export function scanPayload(bytes: Uint8Array, length: number): Scanned {
  if (length === 0) throw new PayloadCorrupt('is empty')
  if (bytes[0] === laterForm) throw new WrittenLater('the payload')
  const scanner = new Scanner(bytes, length)
  scanner.scanValue(0)
  scanner.finish()
  return scanner
}

// The MessagePack tokens that the encoder writes.
const nil = 0xc0
const no = 0xc2
const yes = 0xc3
const float64 = 0xcb
const uint8 = 0xcc
const uint16 = 0xcd
const uint32 = 0xce
const int8 = 0xd0
const int16 = 0xd1
const int32 = 0xd2
const text8 = 0xd9
const text16 = 0xda
const text32 = 0xdb
const array16 = 0xdc
const array32 = 0xdd
const map16 = 0xde
const map32 = 0xdf
const fixMap = 0x80
const fixArray = 0x90
const fixText = 0xa0
const negativeFixInt = 0xe0

const utf8 = new TextDecoder('utf-8', { fatal: true })
const renamedKey = new TextEncoder().encode('__proto__')
const escapeToken = fixText + escapeKey.length
const escapeCode = escapeKey.charCodeAt(0)

class Scanner {
  hasEscapes = false
  end = 0
  private byteArrays = 0
  private readonly bytes: Uint8Array
  private readonly length: number

  constructor(bytes: Uint8Array, length: number) {
    this.bytes = bytes
    this.length = length
  }

  /** Scans a value. `depth` is the number of arrays and maps around it; an escape counts as one. */
  scanValue(depth: number): void {
    const token = this.readByte()
    if (token < fixMap || token >= negativeFixInt) return
    if (token < fixArray) return this.scanMap(token - fixMap, depth)
    if (token < fixText) return this.scanItems(token - fixArray, depth)
    if (token < nil) return this.scanText(token - fixText)
    switch (token) {
      case nil:
      case no:
      case yes:
        return
      case uint8:
      case int8:
        return this.skip(1)
      case uint16:
      case int16:
        return this.skip(2)
      case uint32:
      case int32:
        return this.skip(4)
      case float64:
        return this.skip(8)
      case array16:
      case array32:
        return this.scanItems(this.readLength(token - array16), depth)
      case map16:
      case map32:
        return this.scanMap(this.readLength(token - map16), depth)
      default:
        return this.scanText(this.readTextLength(token))
    }
  }

  finish(): void {
    const missing = this.end + this.byteArrays - this.length
    if (missing > 0) throw new PayloadCorrupt(`is cut short: at least ${missing} bytes are missing`)
    if (missing < 0) throw new PayloadCorrupt(`is followed by ${-missing} bytes that do not belong to it`)
  }

  private scanItems(count: number, depth: number): void {
    this.descend(depth)
    for (let index = 0; index < count; index++) this.scanValue(depth + 1)
  }

  private scanMap(count: number, depth: number): void {
    const { bytes, end } = this
    if (count === 1 && bytes[end] === escapeToken && bytes[end + 1] === escapeCode)
      return this.scanEscape(depth)
    this.descend(depth)
    for (let index = 0; index < count; index++) {
      this.scanKey()
      this.scanValue(depth + 1)
    }
  }

  private scanKey(): void {
    const token = this.readByte()
    const length = token >= fixText && token < nil ? token - fixText : this.readTextLength(token)
    const start = this.end
    this.scanText(length)
    if (length === 1 && this.bytes[start] === escapeCode)
      throw this.explain('has an escape beside other keys')
    if (length === renamedKey.length && this.isRenamed(start))
      throw this.explain('has a key that is always escaped')
  }

  private isRenamed(start: number): boolean {
    for (let index = 0; index < renamedKey.length; index++)
      if (this.bytes[start + index] !== renamedKey[index]) return false
    return true
  }

  private scanEscape(depth: number): void {
    this.hasEscapes = true
    this.skip(2)
    const token = this.readByte()
    if (token < fixMap) return
    const isShort = token >= fixArray && token < fixText
    if (!isShort && token !== array16 && token !== array32) throw this.explain('has an escape without a tag')
    const count = isShort ? token - fixArray : this.readLength(token - array16)
    // The innermost escape may have parts, such as the one of a Date, but nothing nested.
    if (depth > recordLimits.levels) this.descend(depth)
    if (count === 3 && this.bytes[this.end] === tags.bytes) return this.scanBytes()
    for (let index = 0; index < count; index++) this.scanValue(depth + 1)
  }

  private scanBytes(): void {
    this.skip(1)
    const kind = this.readByte()
    if (kind >= fixMap) this.refuseToken(kind)
    this.byteArrays += this.readUnsigned()
  }

  /** Checks that a text is complete, valid UTF-8 without a byte order mark: decoders would change it silently. */
  private scanText(length: number): void {
    const { bytes, end } = this
    this.skip(length)
    if (this.end > this.length) throw this.explain('has a text that is cut short')
    if (length < 40) {
      let seen = 0
      for (let index = end; index < this.end; index++) seen |= bytes[index] as number
      if (seen < fixMap) return
    }
    const isMarked = bytes[end] === 0xef && bytes[end + 1] === 0xbb && bytes[end + 2] === 0xbf
    if (isMarked) throw this.explain('has a text with a byte order mark')
    try {
      utf8.decode(bytes.subarray(end, this.end))
    } catch {
      throw this.explain('has a text that is not UTF-8')
    }
  }

  private readTextLength(token: number): number {
    const length =
      token === text8
        ? this.readByte()
        : token === text16 || token === text32
          ? this.readLength(token - text16)
          : this.refuseToken(token)
    // Only the shortest form, so that a key has a single encoding.
    if (length < (token === text8 ? 0x20 : token === text16 ? 0x100 : 0x10000))
      throw this.explain('has a text with a needlessly long header')
    return length
  }

  private readUnsigned(): number {
    const token = this.readByte()
    if (token < fixMap) return token
    if (token === uint8) return this.readByte()
    return token === uint16 || token === uint32 ? this.readLength(token - uint16) : this.refuseToken(token)
  }

  /** Reads two bytes, or four for the `wide` variant of a token. */
  private readLength(wide: number): number {
    const high = this.readByte() * 0x100 + this.readByte()
    return wide === 0 ? high : high * 0x10000 + this.readByte() * 0x100 + this.readByte()
  }

  private readByte(): number {
    if (this.end >= this.length) throw this.explain('is cut short')
    return this.bytes[this.end++] as number
  }

  private skip(count: number): void {
    this.end += count
  }

  private descend(depth: number): void {
    if (depth >= recordLimits.levels)
      throw this.explain(`is nested more than ${recordLimits.levels} levels deep`)
  }

  private refuseToken(token: number): never {
    throw this.explain(`has the unexpected token 0x${token.toString(16)}`)
  }

  private explain(what: string): PayloadCorrupt {
    return new PayloadCorrupt(`${what}, at byte ${this.end} of ${this.length}`)
  }
}
