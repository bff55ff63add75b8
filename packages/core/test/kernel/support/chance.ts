import type { Choose } from './trial.ts'

/** Numbers in [0, 1) that depend on the seed alone. */
export function chanceOf(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Any pending operation, failing one time in twelve, with attempts before it now and then. */
export function atRandom(chance: () => number): Choose {
  const pick = <Item>(items: readonly Item[]): Item => items[Math.floor(chance() * items.length)] as Item
  return (pending, log) => {
    while (chance() < 0.1) log.attempt(pick(pending))
    const chosen = pick(pending)
    if (chance() < 1 / 12) log.fail(chosen)
    else log.settle(chosen)
  }
}
