/** Generates pseudo-random values from a seed. */
export interface Chance {
  /** Returns a number in [0, 1), a multiple of 2^-53. */
  random(): number
  /** Returns a v4 UUID. */
  uuid(): string
}

export const seedBytes = 16

/**
 * Creates the pseudo-random generator of a run from its recorded seed.
 * The values of a seed are part of every log that used them, so the algorithm never changes: sfc32, a small and fast
 * generator by Chris Doty-Humphrey. It is not cryptographically secure: keys and tokens need real entropy.
 * @throws RangeError if the seed is not 16 bytes long
 * @example createChance(seed).random() // always the same number
 */
export function createChance(seed: Uint8Array): Chance {
  if (seed.length !== seedBytes)
    throw new RangeError(`a seed must have ${seedBytes} bytes; this one has ${seed.length}`)
  return new SeededChance(seed)
}

/** Numbers discarded at the start, so that similar seeds yield unrelated values. */
const warmUp = 16

/** Seeded at the first use: most runs use none. */
class SeededChance implements Chance {
  /** Null once it is in use. */
  #seed: Uint8Array | null
  #a = 0
  #b = 0
  #c = 0
  #counter = 0

  constructor(seed: Uint8Array) {
    this.#seed = seed
  }

  random(): number {
    const high = this.#next() >>> 5
    const low = this.#next() >>> 6
    return (high * 2 ** 26 + low) / 2 ** 53
  }

  uuid(): string {
    const first = showWord(this.#next())
    const second = showWord((this.#next() & 0xffff0fff) | 0x4000)
    const third = showWord((this.#next() & 0x3fffffff) | 0x80000000)
    const fourth = showWord(this.#next())
    return `${first}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${fourth}`
  }

  /** Returns 32 bits, as a signed or unsigned integer. */
  #next(): number {
    if (this.#seed !== null) this.#start(this.#seed)
    return this.#step()
  }

  #start(bytes: Uint8Array): void {
    this.#seed = null
    const seed = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    this.#a = seed.getInt32(0)
    this.#b = seed.getInt32(4)
    this.#c = seed.getInt32(8)
    this.#counter = seed.getInt32(12)
    for (let count = 0; count < warmUp; count++) this.#step()
  }

  #step(): number {
    const b = this.#b
    const c = this.#c
    const result = (this.#a + b + this.#counter) | 0
    this.#counter = (this.#counter + 1) | 0
    this.#a = b ^ (b >>> 9)
    this.#b = (c + (c << 3)) | 0
    this.#c = (((c << 21) | (c >>> 11)) + result) | 0
    return result
  }
}

function showWord(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0')
}
