import { checkShown, refuse } from '../checks/options.ts'
import { checkActor } from '../checks/people.ts'
import { optional, readOptions, type Spec } from '../checks/spec.ts'
import { encodeRecord } from '../events/payload.ts'
import type { CancelledPayload } from '../events/payloads.ts'
import type { CancelOptions } from './message-options.ts'

/** Maximum length of the reason of a cancel, in characters. */
const maxReason = 1_000

const cancelOptions = { by: optional(checkActor) } satisfies Spec<CancelOptions>

/** Reads the arguments of a cancel. @throws PawlError 'option-invalid' */
export function readCancelRequest(reason: unknown, given: unknown): Uint8Array {
  const options = readOptions('of cancel', given, cancelOptions)
  const request: CancelledPayload = {
    ...(reason === undefined ? {} : { reason: readReason(reason) }),
    ...options,
  }
  return encodeRecord(request, 'reason')
}

function readReason(given: unknown): string {
  const reason = checkShown('reason of cancel', given)
  if (reason.length <= maxReason) return reason
  return refuse(
    'reason of cancel',
    given,
    `It must have at most ${maxReason} characters; it has ${reason.length}.`,
  )
}
