// A retry asks again at the same position: that is another ask, with an id and a row of its own, so that no answer to what was
// shown before reaches it. Pure.

/** An ask of a run: the position of its operation, and how often that operation has asked before. */
export interface Asking {
  readonly position: number
  readonly asking: number
}

/** Stores tell the asks of a run apart by a number. It is the position of one that is asked for the first time. */
const firstSlotOfOthers = 2 ** 30
const positionsOfOthers = 2 ** 20
/** Stores keep the number in 31 bits. */
const maxAsking = (2 ** 31 - firstSlotOfOthers) / positionsOfOthers

/**
 * Returns the number under which an ask is stored. Beyond {@link maxAsking}, or 2^20 positions, an ask shares the number of the
 * one before, whose row gives way.
 */
export function askSlotOf({ position, asking }: Asking): number {
  if (asking === 0 || position >= positionsOfOthers) return position
  return firstSlotOfOthers + (Math.min(asking, maxAsking) - 1) * positionsOfOthers + position
}

/** Returns the ask that is stored under a number. */
export function readAskSlot(slot: number): Asking {
  // A row may be damaged.
  if (!(slot >= firstSlotOfOthers)) return { position: slot, asking: 0 }
  const number = slot - firstSlotOfOthers
  const position = number % positionsOfOthers
  return { position, asking: (number - position) / positionsOfOthers + 1 }
}
