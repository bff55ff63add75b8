import type { Sha256 } from '../base/hash.ts'
import { eventTypes, operationKinds, type StoredEvent } from './event.ts'

/** Every 64th event of a generation has a seal: the hash over these 64 events and the previous seal. */
export const sealEvery = 64

/** The parts of an event that the hash covers. */
type Hashed = Pick<StoredEvent, 'type' | 'position' | 'turn' | 'kind' | 'name' | 'nth' | 'failed' | 'payload'>

const headerBytes = 26
/** The longest payload that is hashed directly; of a longer one its hash is used, since the block is hashed at every commit. */
const maxPayloadBytes = 256
const firstBlockBytes = 512
const utf8 = new TextEncoder()

/** The bytes of the events since the last seal, preceded by that seal. */
interface Block {
  readonly bytes: Uint8Array
  readonly used: number
  /** The number of events in the log so far. */
  readonly seq: number
}

/**
 * The running hash of a log. It reveals damage and tampering on load without hashing each event separately.
 * Covered: seq, type, position, turn, kind, name, nth, failed and payload. Not covered: time, duration and epoch, which
 * the store adds.
 */
export class LogHash {
  readonly #sha256: Sha256
  readonly #base: number
  #bytes: Uint8Array = new Uint8Array(firstBlockBytes)
  #used = 0
  #seq = 0
  #kept: Block

  /**
   * Starts with an empty log, or with a log of `seq` events that ends with `seal`: the last seal, or, where a generation
   * begins, the hash of the log before it. Blocks are counted from `base`, where the generation begins.
   */
  constructor(sha256: Sha256, seal: Uint8Array | null = null, seq = 0, base = 0) {
    this.#sha256 = sha256
    this.#base = base
    this.#seq = seq
    if (seal !== null) this.#begin(seal)
    this.#kept = this.#block()
  }

  /** Adds the next event; returns the seal if a block ends here. The event counts once `keep` is called. */
  add(event: Hashed): Uint8Array | null {
    this.#write(event)
    this.#seq++
    if ((this.#seq - this.#base) % sealEvery !== 0) return null
    const seal = this.link()
    this.#begin(seal)
    return seal
  }

  /** Returns the hash of the log so far. */
  link(): Uint8Array {
    return this.#sha256(this.#bytes.subarray(0, this.#used))
  }

  /** Returns the hash of the log without the events added since the last `keep`. */
  keptLink(): Uint8Array {
    return this.#sha256(this.#kept.bytes.subarray(0, this.#kept.used))
  }

  /** Confirms that the added events were written. */
  keep(): void {
    this.#kept = this.#block()
  }

  /** Discards the events added since the last `keep`. */
  drop(): void {
    this.#bytes = this.#kept.bytes
    this.#used = this.#kept.used
    this.#seq = this.#kept.seq
  }

  /** Begins a separate block: the kept one must stay intact until this one is kept too. */
  #begin(seal: Uint8Array): void {
    this.#bytes = new Uint8Array(firstBlockBytes)
    this.#bytes.set(seal)
    this.#used = seal.length
  }

  #block(): Block {
    return { bytes: this.#bytes, used: this.#used, seq: this.#seq }
  }

  #write(event: Hashed): void {
    const { payload, name } = event
    const covered = payload !== null && payload.length > maxPayloadBytes ? this.#sha256(payload) : payload
    // At most three bytes for each UTF-16 unit of the name.
    this.#makeRoom(headerBytes + name.length * 3 + (covered?.length ?? 0))
    const at = this.#used + headerBytes
    const named = writeText(this.#bytes, at, name)
    if (covered !== null) this.#bytes.set(covered, at + named)
    this.#writeHeader(event, named)
    this.#used = at + named + (covered?.length ?? 0)
  }

  #makeRoom(more: number): void {
    if (this.#used + more <= this.#bytes.length) return
    const larger = new Uint8Array(Math.max(2 * this.#bytes.length, this.#used + more))
    larger.set(this.#bytes.subarray(0, this.#used))
    this.#bytes = larger
  }

  #writeHeader(event: Hashed, named: number): void {
    const bytes = this.#bytes
    const at = this.#used
    writeNumber(bytes, at, this.#seq)
    writeNumber(bytes, at + 4, event.position)
    writeNumber(bytes, at + 8, event.turn)
    writeNumber(bytes, at + 12, event.nth)
    const { type, kind } = event
    bytes[at + 16] = typeof type === 'number' ? type : eventTypes.indexOf(type)
    bytes[at + 17] = kind === null ? 255 : typeof kind === 'number' ? kind : operationKinds.indexOf(kind)
    bytes[at + 18] = (event.failed ? 1 : 0) | (event.payload === null ? 2 : 0)
    bytes[at + 19] = 0
    bytes[at + 20] = named >> 8
    bytes[at + 21] = named
    writeNumber(bytes, at + 22, event.payload?.length ?? 0)
  }
}

// Without a DataView: this runs for every event that is written or replayed, and creating a view each time would cost
// more than the writes themselves.

/** Writes 32 bits, big-endian. */
function writeNumber(bytes: Uint8Array, at: number, number: number): void {
  bytes[at] = number >> 24
  bytes[at + 1] = number >> 16
  bytes[at + 2] = number >> 8
  bytes[at + 3] = number
}

/** Writes UTF-8; returns the number of bytes. */
function writeText(bytes: Uint8Array, at: number, text: string): number {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit > 0x7f) return utf8.encodeInto(text, bytes.subarray(at)).written
    bytes[at + i] = unit
  }
  return text.length
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}
