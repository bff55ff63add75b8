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
  const next = createSfc32(new DataView(seed.buffer, seed.byteOffset, seed.byteLength))
  return {
    random() {
      const high = next() >>> 5
      const low = next() >>> 6
      return (high * 2 ** 26 + low) / 2 ** 53
    },
    uuid() {
      const first = showWord(next())
      const second = showWord((next() & 0xffff0fff) | 0x4000)
      const third = showWord((next() & 0x3fffffff) | 0x80000000)
      const fourth = showWord(next())
      return `${first}-${second.slice(0, 4)}-${second.slice(4)}-${third.slice(0, 4)}-${third.slice(4)}${fourth}`
    },
  }
}

/** Numbers discarded at the start, so that similar seeds yield unrelated values. */
const warmUp = 16

/** Yields 32 bits at a time, as a signed or unsigned integer. */
function createSfc32(seed: DataView): () => number {
  let a = seed.getInt32(0)
  let b = seed.getInt32(4)
  let c = seed.getInt32(8)
  let counter = seed.getInt32(12)

  const next = (): number => {
    const result = (a + b + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + result) | 0
    return result
  }
  for (let count = 0; count < warmUp; count++) next()
  return next
}

function showWord(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, '0')
}
