import type { Claimant } from './store/claims.ts'

/** A run that workers died over so often in a row, without a new event, is a suspect: it may be what kills them. */
export const suspectTries = 2

export function isSuspect({ tries }: { readonly tries: number }): boolean {
  return tries >= suspectTries
}

/** Of a suspect that a claimant takes: how many `positives` it may have. It fits a signed number of 32 bits. */
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

/** Crashes of workers on which a run was the only suspect before it is quarantined, unless the engine says otherwise. */
export const defaultMaxCrashes = 5
