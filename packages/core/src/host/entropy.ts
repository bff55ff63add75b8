import { randomFillSync } from 'node:crypto'
import type { Entropy } from '../ports/entropy.ts'

// Captured, so that a seed is never drawn from what the guard or a test has put there.
const randomNative = Math.random
const fillNative = randomFillSync

/** Drawn from the system at once, since asking it costs more than what one run needs. */
const poolBytes = 4_096
const pool = new Uint8Array(poolBytes)
let used = poolBytes

export const systemEntropy: Entropy = {
  bytes(length) {
    if (length > poolBytes) return fillNative(new Uint8Array(length))
    if (used + length > poolBytes) {
      fillNative(pool)
      used = 0
    }
    used += length
    const bytes = pool.slice(used - length, used)
    // Given out once: nobody can read it here later.
    pool.fill(0, used - length, used)
    return bytes
  },
  random: randomNative,
}
