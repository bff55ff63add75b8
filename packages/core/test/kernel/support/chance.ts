import type { Pending } from '../../../src/kernel/operation.ts'
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

/**
 * What may befall a run: any pending operation settles, one in twelve with a failure; attempts are recorded
 * before; several come in one commit; now and then the run is cancelled.
 */
export function atRandom(chance: () => number): Choose {
  let cancelled = false
  return (pending, log) => {
    const rest = [...pending]
    if (!cancelled && chance() < 0.02) {
      cancelled = true
      log.cancel()
      return
    }
    do {
      if (chance() < 0.1) log.attempt(rest[Math.floor(chance() * rest.length)] as Pending)
      const [chosen] = rest.splice(Math.floor(chance() * rest.length), 1) as [Pending]
      if (chance() < 1 / 12) log.fail(chosen)
      else log.settle(chosen)
    } while (rest.length > 0 && chance() < 0.2)
  }
}
