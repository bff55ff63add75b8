/** Chance that is the same every time, from a seed. Replays depend on it: it must never change. */
export interface Chance {
  /** In [0, 1), with 53 bits. */
  random(): number
  /** A version 4 UUID. */
  uuid(): string
}

/** `seed`: 16 bytes. The generator is xoshiro128** (Blackman and Vigna, 2018). */
export function createChance(seed: Uint8Array): Chance {
  const view = new DataView(seed.buffer, seed.byteOffset, seed.byteLength)
  let [a, b, c, d] = [0, 4, 8, 12].map((at) => view.getUint32(at)) as [number, number, number, number]
  // The one state it could never leave.
  if ((a | b | c | d) === 0) a = 1

  const next = (): number => {
    const mixed = Math.imul(rotate(Math.imul(b, 5), 7), 9) >>> 0
    const shifted = b << 9
    c ^= a
    d ^= b
    b ^= c
    a ^= d
    c ^= shifted
    d = rotate(d, 11)
    return mixed
  }
  return {
    random: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53,
    uuid: () => formatUuid([next(), next(), next(), next()]),
  }
}

function rotate(word: number, by: number): number {
  return (word << by) | (word >>> (32 - by))
}

function formatUuid([a, b, c, d]: readonly [number, number, number, number]): string {
  const versioned = ((b & 0xffff0fff) | 0x4000) >>> 0
  const varied = ((c & 0x3fffffff) | 0x80000000) >>> 0
  const digits = [a, versioned, varied, d].map((word) => word.toString(16).padStart(8, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
