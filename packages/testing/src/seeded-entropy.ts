import { createChance, type Entropy, seedBytes } from '@pawl/core/internal'

/** Chance that is the same for the same seed. */
export function createSeededEntropy(seed: number): Entropy {
  const bytes = new Uint8Array(seedBytes)
  new DataView(bytes.buffer).setFloat64(0, seed)
  const chance = createChance(bytes)
  return {
    random: () => chance.random(),
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(chance.random() * 256)),
  }
}
