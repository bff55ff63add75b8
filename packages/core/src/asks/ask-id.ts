import type { Sha256 } from '../base/hash.ts'
import { askSlotOf, readAskSlot } from '../ports/ask-slot.ts'
import type { RunKey } from '../ports/store/runs.ts'

/** Where an ask is: by the key of its run, or by the id of its run. `position` is the number under which it is stored. */
export type AskPlace =
  | { readonly runKey: RunKey; readonly position: number }
  | { readonly run: string; readonly position: number }

/** An ask as it is named in texts and links. `position` is the number under which it is stored; see {@link askSlotOf}. */
export interface NamedAsk {
  readonly runKey: RunKey
  readonly run: string
  readonly position: number
}

const maxRunKey = 2 ** 44
const maxPosition = 2 ** 20
/** The part of a run key that is in the right half of an id. */
const lowRunKeys = 2 ** 12
const rounds = 4

/** Returns the address of an ask. It is accepted wherever an id is. */
export function askAddressOf({ run, position: slot }: Omit<NamedAsk, 'runKey'>): string {
  const { position, asking } = readAskSlot(slot)
  return `${run}/${position}${numberOf(asking)}`
}

/** Returns what follows the id, or the address, of an ask that is asked again: `-2` for the second time. */
function numberOf(asking: number): string {
  return asking === 0 ? '' : `-${asking + 1}`
}

/**
 * Writes and reads the ids of asks: 16 hexadecimal digits that encode the run key (44 bits) and the position (20 bits), and `-2`,
 * `-3` and so on if the operation there asks again. A
 * four-round Feistel permutation with a key of the store makes consecutive asks look unrelated. It hides no secret: the
 * rights of a caller are checked for every id.
 */
export class AskIds {
  readonly #sha256: Sha256
  /** Two words for each round; null until the key of the store is known. */
  #words: Uint32Array | null = null

  constructor(sha256: Sha256) {
    this.#sha256 = sha256
  }

  get isKnown(): boolean {
    return this.#words !== null
  }

  /** @param key of the store; the same for all its connections */
  learn(key: string): void {
    const hash = this.#sha256(new TextEncoder().encode(key))
    const view = new DataView(hash.buffer, hash.byteOffset, hash.byteLength)
    this.#words = Uint32Array.from({ length: 2 * rounds }, (_, index) => view.getUint32(4 * index))
  }

  /** Returns the id of an ask; its address if it is beyond 2^44 runs or 2^20 positions. */
  idOf(ask: NamedAsk): string {
    const { runKey } = ask
    const { position, asking } = readAskSlot(ask.position)
    // A row may be damaged.
    if (!isBelow(runKey, maxRunKey) || !isBelow(position, maxPosition)) return askAddressOf(ask)
    let left = Math.floor(runKey / lowRunKeys) >>> 0
    let right = ((runKey % lowRunKeys) * maxPosition + position) >>> 0
    for (let round = 0; round < rounds; round++) {
      const mixed = (left ^ this.#mix(right, round)) >>> 0
      left = right
      right = mixed
    }
    return showWord(left) + showWord(right) + numberOf(asking)
  }

  /** Returns the id and the address of an ask, for logs and errors. */
  describe(ask: NamedAsk): string {
    const id = this.idOf(ask)
    const address = askAddressOf(ask)
    return id === address ? id : `${id} (${address})`
  }

  /** Reads an id or an address; null if the text is neither. An ask with that id need not exist. */
  read(text: string): AskPlace | null {
    const id = /^([0-9a-f]{16})(?:-(\d+))?$/.exec(text)
    if (id !== null) {
      const { runKey, position } = this.#unmix(id[1] as string)
      const slot = readNumber(position, id[2])
      return slot === null ? null : { runKey, position: slot }
    }
    // No run id has control characters, and not every store can search for one.
    const address = /^(\P{Cc}+)\/(\d{1,9})(?:-(\d+))?$/u.exec(text)
    if (address === null) return null
    const slot = readNumber(Number(address[2]), address[3])
    return slot === null ? null : { run: address[1] as string, position: slot }
  }

  #unmix(id: string): { readonly runKey: RunKey; readonly position: number } {
    let left = Number.parseInt(id.slice(0, 8), 16)
    let right = Number.parseInt(id.slice(8), 16)
    for (let round = rounds - 1; round >= 0; round--) {
      const mixed = (right ^ this.#mix(left, round)) >>> 0
      right = left
      left = mixed
    }
    return {
      runKey: left * lowRunKeys + Math.floor(right / maxPosition),
      position: right % maxPosition,
    }
  }

  #mix(half: number, round: number): number {
    if (this.#words === null) throw new Error('the key of the store is not known yet')
    let mixed = half ^ (this.#words[2 * round] as number)
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35) ^ (this.#words[2 * round + 1] as number)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d)
    return (mixed ^ (mixed >>> 16)) >>> 0
  }
}

/** Returns the number under which an ask is stored; null if no id has this ending. */
function readNumber(position: number, times: string | undefined): number | null {
  if (times === undefined) return position
  const slot = askSlotOf({ position, asking: Number(times) - 1 })
  // Each ask has one id: neither `-1` nor `-02`.
  return numberOf(readAskSlot(slot).asking) === `-${times}` ? slot : null
}

function isBelow(number: number, limit: number): boolean {
  return Number.isSafeInteger(number) && number >= 0 && number < limit
}

function showWord(word: number): string {
  return word.toString(16).padStart(8, '0')
}
