import type { Claimant } from './store/claims.ts'

/** The number of worker deaths in a row, without a new event, that makes a run a suspect: it may cause a crash loop. */
export const suspectTries = 2

/** Returns whether a run is a suspect. */
export function isSuspect({ tries }: { readonly tries: number }): boolean {
  return tries >= suspectTries
}

/** Returns the most `positives` of a suspect that a claimant accepts. Fits a signed 32-bit integer. */
export function maxPositives({ suspects = 'all' }: Pick<Claimant, 'suspects'>): number {
  switch (suspects) {
    case 'none':
      return -1
    case 'unblamed':
      return 0
    case 'all':
      return 2 ** 31 - 1
  }
}

/** The default number of crashes, with the run as the only suspect, before it is quarantined. */
export const defaultMaxCrashes = 5
