/** The current activity of a run. Only a still run is asked for a unit, and it has at most one in flight. */
export type Phase = 'moving' | 'still' | 'writing' | 'parked' | 'leaving' | 'gone'

/** The phases that may follow each phase. */
const following: { readonly [From in Phase]: readonly Phase[] } = {
  /** Events are delivered, or a diagnosis is made. */
  moving: ['moving', 'still', 'gone'],
  /** Everything is delivered: it waits for results, or has something to write. */
  still: ['still', 'moving', 'writing', 'gone'],
  /** A unit is in flight. */
  writing: ['still', 'parked', 'gone'],
  /** Its continuation is in memory, and no worker owns the run. */
  parked: ['still', 'gone'],
  /** Nothing of it is in memory. */
  gone: ['leaving'],
  /** It is being marked in the store. */
  leaving: ['gone'],
}

/** Returns the next phase. @throws Error if it may not follow the present one, which is a bug in Pawl. */
export function nextPhase(from: Phase, to: Phase): Phase {
  if (!following[from].includes(to)) throw new Error(`a run that is ${from} cannot be ${to} next`)
  return to
}
