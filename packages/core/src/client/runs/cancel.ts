import { readCancelRequest } from '../../authoring/cancel-request.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { decode } from '../../events/payload.ts'
import type { CancelledPayload } from '../../events/payloads.ts'
import type { Connection } from '../connection.ts'
import { damagedError } from '../damaged.ts'
import { observeAct } from '../observed.ts'

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
  const payload = readCancelRequest(reason, given)
  const { by } = decode(payload) as CancelledPayload
  return observeAct(connection, { verb: 'cancel', run, by }, () => request(connection, run, payload))
}

async function request(connection: Connection, run: string, payload: Uint8Array): Promise<void> {
  const claimant = connection.claimant()
  const store = await connection.store()
  const outcome = await store.mail.cancel({ run, payload }, claimant)
  switch (outcome.outcome) {
    case 'stored':
    case 'duplicate': {
      const { claimed, message } = outcome
      const { localWorker } = connection
      if (claimed !== null && claimant !== null) localWorker?.onClaimed(claimed, message, claimant.worker)
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
