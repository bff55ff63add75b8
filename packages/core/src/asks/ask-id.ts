import type { Sha256 } from '../base/hash.ts'
import type { RunKey } from '../ports/store/runs.ts'

/** Where an ask is: by the key of its run, or by the id of its run. */
export type AskPlace =
  | { readonly runKey: RunKey; readonly position: number }
  | { readonly run: string; readonly position: number }

/** An ask as it is named in texts and links. */
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
export function askAddressOf({ run, position }: Omit<NamedAsk, 'runKey'>): string {
  return `${run}/${position}`
}

/**
 * Writes and reads the ids of asks: 16 hexadecimal digits that encode the run key (44 bits) and the position (20 bits). A
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
    const { runKey, position } = ask
    // A row may be damaged.
    if (!isBelow(runKey, maxRunKey) || !isBelow(position, maxPosition)) return askAddressOf(ask)
    let left = Math.floor(runKey / lowRunKeys) >>> 0
    let right = ((runKey % lowRunKeys) * maxPosition + position) >>> 0
    for (let round = 0; round < rounds; round++) {
      const mixed = (left ^ this.#mix(right, round)) >>> 0
      left = right
      right = mixed
    }
    return showWord(left) + showWord(right)
  }

  /** Returns the id and the address of an ask, for logs and errors. */
  describe(ask: NamedAsk): string {
    const id = this.idOf(ask)
    const address = askAddressOf(ask)
    return id === address ? id : `${id} (${address})`
  }

  /** Reads an id or an address; null if the text is neither. An ask with that id need not exist. */
  read(text: string): AskPlace | null {
    if (/^[0-9a-f]{16}$/.test(text)) return this.#unmix(text)
    // No run id has control characters, and not every store can search for one.
    const match = /^(\P{Cc}+)\/(\d{1,9})$/u.exec(text)
    return match === null ? null : { run: match[1] as string, position: Number(match[2]) }
  }

  #unmix(id: string): AskPlace {
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

function isBelow(number: number, limit: number): boolean {
  return Number.isSafeInteger(number) && number >= 0 && number < limit
}

function showWord(word: number): string {
  return word.toString(16).padStart(8, '0')
}
