import type { Sha256 } from '../base/hash.ts'
import { encodeRecord } from '../events/payload.ts'
import { sameBytes } from '../events/seal.ts'
import type { AskRow } from '../ports/store/asks.ts'
import type { DecisionRow } from '../ports/store/removals.ts'

/** Returns the digest of all that a decision says, which outlives the log of its run. */
export function digestDecision(sha256: Sha256, row: AskRow): Uint8Array {
  const { run, procedure, startedBy, position, kind, key, urgency, status, to, escalateTo } = row
  const { openedAt, dueAt, closesAt, closedAt, payload, answeredBy, answer } = row
  const asked = [run, procedure, startedBy, position, kind, key, urgency, status, to, escalateTo, payload]
  return sha256(encodeRecord([...asked, openedAt, dueAt, closesAt, closedAt, answeredBy, answer], 'decision'))
}

/** What is said of a decision that is not as it was sealed. */
export const decisionDamage = 'its row does not match its digest'

/** Whether a decision is as it was sealed; also true for one of an earlier version, which has no seal. */
export function isAsSealed(sha256: Sha256, row: DecisionRow): boolean {
  return row.digest === null || sameBytes(row.digest, digestDecision(sha256, row))
}
