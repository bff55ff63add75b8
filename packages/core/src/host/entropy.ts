import { randomBytes } from 'node:crypto'
import type { Entropy } from '../ports/entropy.ts'

// Captured, so that a seed is never drawn from what the guard or a test has put there.
const randomNative = Math.random
const bytesNative = randomBytes

export const systemEntropy: Entropy = {
  bytes: (length) => new Uint8Array(bytesNative(length)),
  random: randomNative,
}
