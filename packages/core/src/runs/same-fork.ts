import { canonical } from '../base/canonical.ts'
import type { Sha256 } from '../base/hash.ts'
import { decode, encodeRecord } from '../events/payload.ts'
import type { StartedPayload } from '../events/payloads.ts'
import { sameBytes } from '../events/seal.ts'

// Recognises a fork that is asked for again. A caller whose reply was lost sends the same call; it gets the first fork.

/** Where a fork leaves its original, as its caller says it. */
export type ForkFrom = { readonly position: number } | { readonly checkpoint: string }

/** A fork, as its caller wants it. */
export interface ForkRequest {
  readonly run: string
  readonly from: ForkFrom
  /** The encoded results that are replaced, by position, in ascending order. */
  readonly edits: ReadonlyMap<number, Uint8Array | null>
}

/** Returns a digest of the edits, which does not depend on the order of members. */
export function hashEdits(sha256: Sha256, edits: ForkRequest['edits']): Uint8Array {
  const hashed = [...edits].map(([position, value]) => [
    position,
    sha256(encodeRecord([canonical(decode(value))], 'edit of fork')),
  ])
  return sha256(encodeRecord(hashed, 'edit of fork'))
}

/**
 * Returns what an existing run is other than the fork that is asked for, as the end of a sentence that begins with the run; null if it
 * is that fork. Who asks does not matter, nor does what has become of either run since.
 */
export function otherThanFork(
  sha256: Sha256,
  { forkedFrom, fork }: StartedPayload,
  { run, from, edits }: ForkRequest,
): string | null {
  if (forkedFrom === undefined)
    return fork === undefined
      ? 'which is no fork'
      : `as a fork of run ${fork.run} at position ${fork.position} by an earlier version, which did not record its edits`
  const { position, checkpoint } = forkedFrom
  const place = checkpoint === null ? `at position ${position}` : `from checkpoint ${checkpoint}`
  const isThere =
    'position' in from ? checkpoint === null && position === from.position : checkpoint === from.checkpoint
  const found = `as a fork of run ${forkedFrom.run} ${place}`
  if (forkedFrom.run !== run || !isThere) return found
  return sameBytes(forkedFrom.edits, hashEdits(sha256, edits)) ? null : `${found}, with other edits`
}
