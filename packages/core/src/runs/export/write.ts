import type { Sha256 } from '../../base/hash.ts'
import { encodePayload } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import {
  type EventTuple,
  type ExportHeader,
  type ExportRows,
  type FrameKind,
  frameBytes,
  frameHead,
  frameNumbers,
  magic,
  maxFrameBytes,
} from './format.ts'

/** Writes the file of a run part by part. Pure: what it returns follows from the rows alone. */
export class ExportWriter {
  readonly #sha256: Sha256
  #digest: Uint8Array
  #events: EventTuple[] = []
  #bytes = 0

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
    this.#digest = sha256(magic)
  }

  begin(header: ExportHeader): readonly Uint8Array[] {
    return [magic, this.#frame('header', header)]
  }

  /** Adds the next event. Returns a frame if one is complete. */
  addEvent(event: LogEvent): readonly Uint8Array[] {
    const { at, epoch, type, position, turn, kind, name, nth, failed, tookMs, payload, link } = event
    this.#events.push([at, epoch, type, position, turn, kind, name, nth, failed, tookMs, payload, link])
    this.#bytes += sizeOf(payload)
    return this.#bytes < frameBytes ? [] : this.#endEvents()
  }

  /** Adds the rows beside the log, which ends with them. */
  *end({ messages, asks, states, checkpoints, notices }: ExportRows): Generator<Uint8Array> {
    yield* this.#endEvents()
    yield* this.#frames('messages', messages, ({ payload }) => sizeOf(payload))
    yield* this.#frames('asks', asks, ({ payload, answer }) => sizeOf(payload) + sizeOf(answer))
    yield* this.#frames('states', states, ({ payload }) => sizeOf(payload))
    yield* this.#frames('checkpoints', checkpoints, ({ payload }) => sizeOf(payload))
    yield* this.#frames('notices', notices, ({ payload }) => sizeOf(payload))
    yield this.#frame('end', null)
  }

  #endEvents(): readonly Uint8Array[] {
    if (this.#events.length === 0) return []
    const frame = this.#frame('events', this.#events)
    this.#events = []
    this.#bytes = 0
    return [frame]
  }

  *#frames<Row>(kind: FrameKind, rows: readonly Row[], size: (row: Row) => number): Generator<Uint8Array> {
    let part: Row[] = []
    let bytes = 0
    for (const row of rows) {
      part.push(row)
      bytes += size(row)
      if (bytes < frameBytes) continue
      yield this.#frame(kind, part)
      part = []
      bytes = 0
    }
    if (part.length > 0) yield this.#frame(kind, part)
  }

  #frame(kind: FrameKind, value: unknown): Uint8Array {
    const body = encodePayload(value, 'export', frameLimits)
    const frame = new Uint8Array(frameHead + body.length)
    const head = new DataView(frame.buffer)
    head.setUint32(0, body.length)
    head.setUint8(4, frameNumbers[kind])
    frame.set(body, frameHead)
    this.#digest = digestOf(this.#sha256, this.#digest, frame)
    frame.set(this.#digest, frameHead - this.#digest.length)
    return frame
  }
}

/** Records are nested a few levels deep; their payloads are bytes. */
const frameLimits = { bytes: maxFrameBytes, levels: 8 }

/** About the bytes that a row takes with a payload. */
function sizeOf(payload: Uint8Array | null): number {
  return 100 + (payload?.length ?? 0)
}

/** Returns the digest of a frame, which follows one with the given digest. */
export function digestOf(sha256: Sha256, before: Uint8Array, frame: Uint8Array): Uint8Array {
  const hashed = new Uint8Array(before.length + 5 + frame.length - frameHead)
  hashed.set(before)
  hashed.set(frame.subarray(0, 5), before.length)
  hashed.set(frame.subarray(frameHead), before.length + 5)
  return sha256(hashed)
}
