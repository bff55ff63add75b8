/** Where real chance comes from: ids, seeds, jitter. */
export interface Entropy {
  bytes(length: number): Uint8Array
  /** In [0, 1). */
  random(): number
}
