import { checkKeys, checkObject, checkText, refuse } from '../checks/options.ts'
import { checkActor } from '../checks/people.ts'
import { encodeRecord } from '../events/payload.ts'
import type { CancelledPayload } from '../events/payloads.ts'

/** Maximum length of the reason of a cancel, in characters. */
const maxReason = 1_000

/** Reads the arguments of a cancel. @throws PawlError 'option-invalid' */
export function readCancelRequest(reason: unknown, given: unknown): Uint8Array {
  const options = checkObject('options of cancel', given)
  checkKeys('the options of cancel', options, ['by'])
  const { by } = options
  const request: CancelledPayload = {
    ...(reason === undefined ? {} : { reason: readReason(reason) }),
    ...(by === undefined ? {} : { by: checkActor('by of cancel', by) }),
  }
  return encodeRecord(request, 'reason')
}

function readReason(given: unknown): string {
  const reason = checkText('reason of cancel', given)
  if (reason.length <= maxReason) return reason
  return refuse(
    'reason of cancel',
    given,
    `It must have at most ${maxReason} characters; it has ${reason.length}.`,
  )
}
