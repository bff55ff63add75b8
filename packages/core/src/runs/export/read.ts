import type { Sha256 } from '../../base/hash.ts'
import { ChainCheck } from '../../events/chain-check.ts'
import { decodePayload, isUnread } from '../../events/codec.ts'
import type { LogEvent } from '../../events/event.ts'
import type { KeptCheckpoint } from '../../ports/store/checkpoints.ts'
import type { KeptAsk, KeptMessage } from '../../ports/store/copies.ts'
import type { KeptNotice } from '../../ports/store/notices.ts'
import type { StateRow } from '../../ports/store/states.ts'
import {
  type ExportHeader,
  type FrameKind,
  frameHead,
  frameKinds,
  frameNumbers,
  invalidExport,
  magic,
  maxFrameBytes,
} from './format.ts'
import {
  Later,
  Malformed,
  readAsks,
  readCheckpoints,
  readEvents,
  readHeader,
  readMessages,
  readNotices,
  readStates,
} from './rows.ts'
import { digestOf } from './write.ts'

/** A part of an exported run, verified. */
export type ExportPart =
  | { readonly kind: 'header'; readonly header: ExportHeader }
  | { readonly kind: 'events'; readonly events: readonly LogEvent[] }
  | { readonly kind: 'messages'; readonly messages: readonly KeptMessage[] }
  | { readonly kind: 'asks'; readonly asks: readonly KeptAsk[] }
  | { readonly kind: 'states'; readonly states: readonly StateRow[] }
  | { readonly kind: 'checkpoints'; readonly checkpoints: readonly KeptCheckpoint[] }
  | { readonly kind: 'notices'; readonly notices: readonly KeptNotice[] }
  | { readonly kind: 'end' }

/** Bytes as they arrive, in parts of any size. */
export type Chunks = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Reads the file of a run part by part, and verifies each part before it is returned. Only once it has returned the part
 * 'end', the file is complete and the chain of its log is verified to its end.
 * @throws PawlError 'export-invalid'
 */
export async function* readExport(sha256: Sha256, chunks: Chunks): AsyncGenerator<ExportPart> {
  const parts = new PartReader(sha256)
  try {
    for await (const frame of readFrames(sha256, chunks)) yield parts.read(frame)
    parts.end()
  } catch (error) {
    if (error instanceof Later) throw invalidExport(`${error.message} was written by a later version`, error)
    if (error instanceof Malformed || isUnread(error)) throw invalidExport(error.message, error)
    throw error
  }
}

interface Frame {
  readonly kind: FrameKind
  readonly body: Uint8Array
}

/** Yields the frames whose digests are right. @throws Malformed, Later */
async function* readFrames(sha256: Sha256, chunks: Chunks): AsyncGenerator<Frame> {
  const source = new ByteSource(chunks)
  const begin = await source.take(magic.length)
  if (begin === null || begin.some((byte, index) => byte !== magic[index]))
    throw new Malformed('it does not begin like an exported run')
  let digest = sha256(magic)
  for (let at = magic.length; ; at = source.taken) {
    const head = await source.take(frameHead)
    if (head === null) {
      if (source.rest > 0) throw cutOff(source)
      return
    }
    const view = new DataView(head.buffer, head.byteOffset, head.length)
    const size = view.getUint32(0)
    if (size > maxFrameBytes) throw damagedFrom(at)
    const body = await source.take(size)
    if (body === null) throw cutOff(source)
    const frame = new Uint8Array(frameHead + size)
    frame.set(head)
    frame.set(body, frameHead)
    digest = digestOf(sha256, digest, frame)
    if (digest.some((byte, index) => byte !== head[5 + index])) throw damagedFrom(at)
    const number = view.getUint8(4)
    const kind = frameKinds.find((known) => frameNumbers[known] === number)
    if (kind === undefined) throw new Later(`the part at byte ${at}`)
    yield { kind, body }
  }
}

function damagedFrom(at: number): Malformed {
  return new Malformed(`the part that begins at byte ${at} does not match its digest`)
}

function cutOff({ taken, rest }: ByteSource): Malformed {
  return new Malformed(`it ends in the middle of a part, after ${taken + rest} bytes`)
}

/** Decodes frames in their order, and verifies the chain of the log. */
class PartReader {
  readonly #sha256: Sha256
  #kind: FrameKind | null = null
  #header: ExportHeader | null = null
  #chain: ChainCheck | null = null
  #seq = 0
  /** The last rows, with which those of the next part are compared. */
  #message: KeptMessage | null = null
  #ask: KeptAsk | null = null
  #state: StateRow | null = null
  readonly #slots = new Set<number>()
  readonly #notices = new Set<string>()

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  /** @throws Malformed, Later, LogDamaged, PayloadCorrupt, WrittenLater */
  read({ kind, body }: Frame): ExportPart {
    this.#step(kind)
    const value = decodePayload(body)
    switch (kind) {
      case 'header': {
        const header = readHeader(value)
        this.#header = header
        this.#chain = new ChainCheck(this.#sha256, header.first)
        this.#seq = header.first
        return { kind, header }
      }
      case 'events': {
        const events = readEvents(value, this.#seq)
        for (const event of events) this.#chain?.add(event)
        this.#seq += events.length
        return { kind, events }
      }
      case 'messages': {
        const messages = readMessages(value, this.#message)
        this.#message = messages.at(-1) ?? null
        return { kind, messages }
      }
      case 'asks': {
        const asks = readAsks(value, this.#ask)
        this.#ask = asks.at(-1) ?? null
        return { kind, asks }
      }
      case 'states': {
        const states = readStates(value, this.#state)
        this.#state = states.at(-1) ?? null
        return { kind, states }
      }
      case 'checkpoints': {
        if (this.#header === null) throw new Malformed('its header is missing')
        return { kind, checkpoints: readCheckpoints(value, this.#header, this.#slots) }
      }
      case 'notices': {
        if (this.#header === null) throw new Malformed('its header is missing')
        return { kind, notices: readNotices(value, this.#header, this.#notices) }
      }
      case 'end':
        if (value !== null) throw new Malformed('its last part is not empty')
        if (this.#header !== null) this.#chain?.end(this.#header)
        return { kind }
    }
  }

  /** @throws Malformed if the last part is missing */
  end(): void {
    if (this.#kind !== 'end') throw new Malformed('its last part is missing')
  }

  /** The first and the last kind come once; of the others any number, none included. */
  #step(kind: FrameKind): void {
    const before = this.#kind
    const isFirst = before === null
    const [at, now] = [isFirst ? -1 : frameKinds.indexOf(before), frameKinds.indexOf(kind)]
    const isRight = isFirst ? kind === 'header' : now > at || (now === at && kind !== 'header')
    if (!isRight || before === 'end') throw new Malformed(`its part ${kind} is in the wrong place`)
    this.#kind = kind
  }
}

/** Joins chunks to the lengths that are asked for. */
class ByteSource {
  readonly #chunks: AsyncIterator<Uint8Array> | Iterator<Uint8Array>
  #parts: Uint8Array[] = []
  /** Bytes that were taken. */
  taken = 0
  /** Bytes that have arrived and were not taken. */
  rest = 0

  constructor(chunks: Chunks) {
    this.#chunks = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]()
  }

  /** Returns the next bytes; null if fewer are left. */
  async take(size: number): Promise<Uint8Array | null> {
    while (this.rest < size) {
      const { done, value } = await this.#chunks.next()
      if (done === true) return null
      if (!(value instanceof Uint8Array)) throw new Malformed('a chunk of it is not a Uint8Array')
      this.#parts.push(value)
      this.rest += value.length
    }
    const taken = this.#cut(size)
    this.taken += size
    this.rest -= size
    return taken
  }

  #cut(size: number): Uint8Array {
    const taken = new Uint8Array(size)
    for (let at = 0; at < size; ) {
      const part = this.#parts[0] as Uint8Array
      const count = Math.min(part.length, size - at)
      taken.set(part.subarray(0, count), at)
      at += count
      if (count === part.length) this.#parts.shift()
      else this.#parts[0] = part.subarray(count)
    }
    return taken
  }
}
