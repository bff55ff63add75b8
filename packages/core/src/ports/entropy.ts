/** Provides real randomness: for ids, seeds and jitter. */
export interface Entropy {
  bytes(length: number): Uint8Array
  /** Returns a number in [0, 1). */
  random(): number
}
