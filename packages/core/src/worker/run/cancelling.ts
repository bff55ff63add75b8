import type { ProcedureOperation } from '../../authoring/operations.ts'
import { recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { encodeRecord } from '../../events/payload.ts'
import type { CancelledPayload, CancelNote, RollbackRecord } from '../../events/payloads.ts'
import { readCancelled } from '../../events/read-cancelled.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Effect } from '../../ports/store/commit.ts'
import type { Message } from '../../ports/store/mail.ts'
import { runEvent } from '../../runs/run-event.ts'
import type { RunDraft } from '../activities/activity.ts'
import { consume } from '../activities/activity.ts'
import { describeEnding, type Ending, endedEvent } from './ending.ts'
import type { LogIndex } from './log-index.ts'
import { topicOf } from './mailbox.ts'
import type { UnitParts } from './unit.ts'

/** The topic of the message that requests a cancel. */
export const cancelTopic: string = topicOf('cancel', '')

/** The default of `ProcedureSpec.grace`. */
export const defaultGraceMs = 60_000

/** Records the request that a message brought. */
export function recordRequest({ n, payload }: Message): RunDraft {
  return { type: 'cancelled', payload: payload ?? encodeCancel({}), effects: [consume(n)] }
}

/** Records a cancel that no message requested. */
export function recordCancel(payload: CancelledPayload): RunDraft {
  return { type: 'cancelled', payload: encodeCancel(payload), effects: [] }
}

function encodeCancel(payload: CancelledPayload): Uint8Array {
  return encodeRecord(payload, 'reason')
}

export function cancelledEvent({ payload }: RunDraft): WrittenEvent {
  return runEvent('cancelled', payload)
}

/** A cancel as it is shown. Null: it only forces the end of a run whose procedure has returned or failed. */
export function noteOf(draft: Pick<RunDraft, 'payload'>, at: number): CancelNote | null {
  const { reason, by, forced } = readCancelled(draft)
  if (forced === true) return null
  return { at, ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) }
}

/** The end of a run that ends as cancelled. */
export function cancelWith(
  reason: string | undefined,
  left: readonly Pending<ProcedureOperation>[],
): Ending & { readonly state: 'cancelled' } {
  const failure = recordFailure(new PawlError('cancelled', { reason }))
  return { state: 'cancelled', failure, payload: encodeRecord(failure, 'failure'), left }
}

/** The end of a cancelled run whose procedure cannot continue, and the unit that writes it. */
export interface EndWithoutCode {
  readonly ending: Ending
  readonly parts: UnitParts
}

/**
 * Composes the unit that ends a cancelled run whose procedure cannot continue: with the request, unless the log has it, and
 * with the withdrawal of each open question. Nothing of it is delivered.
 */
export function endWithoutCode(
  notes: LogIndex,
  request: Message | undefined,
  now: number,
  signals: readonly string[],
): EndWithoutCode {
  const draft = request === undefined ? null : recordRequest(request)
  const cancelled = notes.cancelled ?? (draft === null ? null : noteOf(draft, now)) ?? { at: now }
  const ending = cancelWith(cancelled.reason, [])
  const rollback: RollbackRecord = {
    ...{ reason: cancelled.reason ?? 'the run was cancelled', ...notes.undos() },
    skipped: 'The run ended without its code, so the undos that its procedure had registered did not run',
  }
  const asked = notes.openAsks
  const closes = asked.map(({ position }): Effect => ({ do: 'close-ask', position, status: 'withdrawn' }))
  return {
    ending,
    parts: {
      events: [
        ...(draft === null ? [] : [cancelledEvent(draft)]),
        ...asked.map(withdrawn),
        endedEvent(ending),
      ],
      drafts: [],
      effects: [...(draft?.effects ?? []), ...closes],
      next: { do: 'end', state: 'cancelled' },
      info: describeEnding(ending, signals, { rollback: notes.hasOperations ? rollback : null, cancelled }),
    },
  }
}

function withdrawn({ position, turn, kind, name, nth }: LogEvent): WrittenEvent {
  return { ...runEvent('withdrawn', null), position, turn, kind, name, nth }
}
