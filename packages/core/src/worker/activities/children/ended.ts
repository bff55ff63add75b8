import { failureOf, recordFailure, reviveFailure } from '../../../errors/failure.ts'
import { PawlError } from '../../../errors/pawl-error.ts'
import { encodeRecord } from '../../../events/payload.ts'
import type { EndedPayload } from '../../../events/payloads.ts'
import type { Pending } from '../../../kernel/operation.ts'
import type { Draft } from '../activity.ts'

/** The result of an operation that waited for the end of a run. */
export function settleEnded(pending: Pending, ended: EndedPayload): Draft {
  if (ended.state === 'completed') return { type: 'settled', pending, payload: ended.output }
  return failed(pending, errorOf(ended))
}

/** A failed result. */
export function failed(pending: Pending, error: unknown): Draft {
  const payload = encodeRecord(recordFailure(error), 'failure')
  return { type: 'settled', pending, failed: true, payload }
}

function errorOf(ended: Exclude<EndedPayload, { readonly state: 'completed' }>): PawlError {
  const { run } = ended
  if (ended.state === 'cancelled') return new PawlError('run-cancelled', { run, reason: ended.reason })
  const { failure } = ended
  return new PawlError('run-failed', { run, cause: failureOf(failure) }, { cause: reviveFailure(failure) })
}
