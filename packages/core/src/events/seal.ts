import type { Hash, NewHash } from '../base/hash.ts'
import { eventTypes, type NewEvent, operationKinds } from './event.ts'

/** A seal stands at every 64th event: the hash over those 64 and the seal before. */
export const sealEvery = 64

const scratchBytes = 16 * 1024
const headerBytes = 26
const utf8 = new TextEncoder()

// One buffer for all logs: whoever writes next makes the last writer flush first.
const scratch = new Uint8Array(scratchBytes)
const view = new DataView(scratch.buffer)
let lastWriter: LogHash | null = null

/**
 * The running hash of a log. It makes damage and tampering visible on load without the cost of a hash for
 * each event. Covered: seq, type, position, turn, kind, name, nth, failed and payload. Not covered: time,
 * duration and epoch, which the store adds.
 */
export class LogHash {
  readonly #newHash: NewHash
  #hash: Hash
  #seq: number
  #used = 0

  /** The hash of an empty log. */
  constructor(newHash: NewHash) {
    this.#newHash = newHash
    this.#hash = newHash()
    this.#seq = 0
  }

  /** Another that goes on from here: for what may be refused. */
  fork(): LogHash {
    this.#flush()
    const fork = new LogHash(this.#newHash)
    fork.#hash = this.#hash.copy()
    fork.#seq = this.#seq
    return fork
  }

  /** Adds the next event; returns the seal if one ends here. */
  add(event: NewEvent): Uint8Array | null {
    this.#write(event)
    this.#seq++
    if (this.#seq % sealEvery !== 0) return null
    const seal = this.link()
    this.#hash = this.#newHash()
    this.#hash.update(seal)
    return seal
  }

  /** The hash of the log so far. */
  link(): Uint8Array {
    this.#flush()
    return this.#hash.digest()
  }

  #write(event: NewEvent): void {
    if (lastWriter !== null && lastWriter !== this) lastWriter.#flush()
    lastWriter = this
    const payload = event.payload
    // Three bytes at most for each UTF-16 unit of the name.
    const most = headerBytes + event.name.length * 3 + (payload?.length ?? 0)
    if (most > scratchBytes) return this.#writeLarge(event)
    if (this.#used + most > scratchBytes) this.#flush()
    const at = this.#used + headerBytes
    const named = utf8.encodeInto(event.name, scratch.subarray(at)).written
    if (payload !== null) scratch.set(payload, at + named)
    this.#header(event, named)
    this.#used = at + named + (payload?.length ?? 0)
  }

  #writeLarge(event: NewEvent): void {
    const name = utf8.encode(event.name)
    this.#flush()
    this.#header(event, name.length)
    this.#used = headerBytes
    this.#flush()
    this.#hash.update(name)
    if (event.payload !== null) this.#hash.update(event.payload)
  }

  #header(event: NewEvent, nameBytes: number): void {
    const at = this.#used
    view.setUint32(at, this.#seq)
    view.setInt32(at + 4, event.position)
    view.setUint32(at + 8, event.turn)
    view.setUint32(at + 12, event.nth)
    view.setUint8(at + 16, eventTypes.indexOf(event.type))
    view.setUint8(at + 17, event.kind === null ? 255 : operationKinds.indexOf(event.kind))
    view.setUint8(at + 18, (event.failed ? 1 : 0) | (event.payload === null ? 2 : 0))
    view.setUint8(at + 19, 0)
    view.setUint16(at + 20, nameBytes)
    view.setUint32(at + 22, event.payload?.length ?? 0)
  }

  #flush(): void {
    if (this.#used === 0) return
    this.#hash.update(scratch.subarray(0, this.#used))
    this.#used = 0
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
