import type { Entropy } from '../ports/entropy.ts'
import { randomFillSyncNative, randomNative } from './natives.ts'

/** Read from the system in bulk, since a system call costs more than one run needs. */
const poolBytes = 4_096
const pool = new Uint8Array(poolBytes)
let used = poolBytes

export const systemEntropy: Entropy = {
  bytes(length) {
    if (length > poolBytes) return randomFillSyncNative(new Uint8Array(length))
    if (used + length > poolBytes) {
      randomFillSyncNative(pool)
      used = 0
    }
    used += length
    const bytes = pool.slice(used - length, used)
    // Erase bytes that were handed out, so that they cannot be read here later.
    pool.fill(0, used - length, used)
    return bytes
  },
  random: randomNative,
}
