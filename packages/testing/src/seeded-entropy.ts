import { createChance, type Entropy, seedBytes } from '@pawl/core/internal'

/** Chance that is the same for the same seed, and another for each engine that shares a store. */
export function createSeededEntropy(seed: number, engine: number): Entropy {
  const bytes = new Uint8Array(seedBytes)
  const view = new DataView(bytes.buffer)
  view.setFloat64(0, seed)
  view.setFloat64(8, engine)
  const chance = createChance(bytes)
  return {
    random: () => chance.random(),
    bytes: (length) => Uint8Array.from({ length }, () => Math.floor(chance.random() * 256)),
  }
}
