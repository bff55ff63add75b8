import { createChance, type Entropy, seedBytes } from '@pawl/core/internal'

/** Creates randomness that depends only on the seed and on the engine's number on its store. */
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
