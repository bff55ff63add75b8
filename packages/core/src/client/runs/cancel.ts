import { checkKeys, checkObject, checkText, refuse } from '../../checks/options.ts'
import { checkActor } from '../../checks/people.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encodeRecord } from '../../events/payload.ts'
import type { CancelledPayload } from '../../events/payloads.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'

/** Maximum length of the reason of a cancel, in characters. */
const maxReason = 1_000

/**
 * Requests that a run is cancelled. The worker of this process is told at once.
 * @throws PawlError 'run-not-found', 'run-quarantined', 'option-invalid'
 */
export async function cancelRun(
  connection: Connection,
  run: string,
  reason: unknown,
  given: unknown,
): Promise<void> {
  const payload = encodeRecord(readRequest(reason, given), 'reason')
  const claimant = connection.claimant()
  const store = await connection.store()
  const outcome = await store.cancel({ run, payload }, claimant)
  switch (outcome.outcome) {
    case 'stored':
    case 'duplicate': {
      const { claimed, message } = outcome
      const { localWorker } = connection
      if (claimed !== null) localWorker?.onClaimed(claimed, message)
      else if (outcome.outcome === 'stored') localWorker?.onMail(outcome.run, message)
      return
    }
    // There is nothing left to cancel.
    case 'ended':
      return
    case 'missing':
      throw new PawlError('run-not-found', { run })
    case 'quarantined':
      throw new PawlError(
        'run-quarantined',
        { run, reason: 'nothing is written to a quarantined run, so it cannot be cancelled' },
        { next: 'Nothing was stored by this call; other runs are not affected.' },
      )
    case 'damaged':
      throw damagedError(run, outcome)
  }
}

function readRequest(reason: unknown, given: unknown): CancelledPayload {
  const options = checkObject('options of cancel', given)
  checkKeys('the options of cancel', options, ['by'])
  const { by } = options
  return {
    ...(reason === undefined ? {} : { reason: readReason(reason) }),
    ...(by === undefined ? {} : { by: checkActor('by of cancel', by) }),
  }
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
