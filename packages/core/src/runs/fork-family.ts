import type { Sha256 } from '../base/hash.ts'
import { toHex } from '../base/hex.ts'
import { encodeRecord } from '../events/payload.ts'
import type { ForkFamily, StartedPayload } from '../events/payloads.ts'

// Keeps the runs below a fork apart from the runs of its original. Both run the same code, which may give the same ids.

const maxLength = 200
const maxPrefix = 120

/** Returns the fork to whose family a run belongs; null if it belongs to none. `started`: the first event of its generation. */
export function forkFamilyOf(
  id: string,
  { forkedFrom, fork, parent, family }: Pick<StartedPayload, 'forkedFrom' | 'fork' | 'parent' | 'family'>,
): ForkFamily | null {
  if (forkedFrom !== undefined) {
    const { run, above = [], starters } = forkedFrom
    return { id, originals: [run, ...above], ...(starters === undefined ? {} : { starters }) }
  }
  // One that an earlier version made.
  if (fork !== undefined) return { id, originals: [fork.run] }
  return parent?.fork ?? family ?? null
}

/** Returns what an id becomes that a program of the family gives to a run or to a message: the original may give the same one. */
export function ownIdOf(sha256: Sha256, { id: fork }: ForkFamily, given: string): string {
  const own = `${given}~${fork}`
  if (own.length <= maxLength) return own
  const digest = toHex(sha256(encodeRecord([given, fork], 'id'))).slice(0, 32)
  return `${given.slice(0, maxPrefix)}~${digest}`
}
