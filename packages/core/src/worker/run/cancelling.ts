import type { ProcedureOperation } from '../../authoring/operations.ts'
import { recordFailure } from '../../errors/failure.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type {
  AnswerMessage,
  AnswerPayload,
  AskPayload,
  CancelledPayload,
  CancelNote,
  RollbackRecord,
} from '../../events/payloads.ts'
import { readCancelled } from '../../events/read-cancelled.ts'
import type { Pending } from '../../kernel/operation.ts'
import type { Effect } from '../../ports/store/log.ts'
import type { Message } from '../../ports/store/mail.ts'
import { runEvent } from '../../runs/run-event.ts'
import { topicOf } from '../../runs/topics.ts'
import type { RunDraft } from '../activities/activity.ts'
import { consume } from '../activities/activity.ts'
import { decidedByPerson } from '../activities/decide/decide-activity.ts'
import type { Continuation } from './continuation.ts'
import { describeEnding, type Ending, endedEvent } from './ending.ts'
import type { Mailbox } from './mailbox.ts'
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

/** Records a cancel in the next generation too. */
export function recordCancelAgain({ reason, by }: CancelNote): RunDraft {
  return recordCancel({ ...(reason === undefined ? {} : { reason }), ...(by === undefined ? {} : { by }) })
}

/** Records that the run's own timeout has passed. */
export function recordTimeout(): RunDraft {
  return recordCancel({ reason: 'timed out' })
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

/** The end of a cancelled run whose procedure cannot continue. */
export interface EndWithoutCode {
  readonly ending: Ending
  /** Composes the unit that writes it, with what the mailbox has by then. */
  compose(mailbox: Pick<Mailbox, 'oldest' | 'signals'>): UnitParts
}

/**
 * Ends a cancelled run whose procedure cannot continue: with the cancel, unless the log has it, and with the answer to each
 * open question that was accepted, or its withdrawal. Nothing of it is delivered.
 */
export function endWithoutCode(
  { notes, mayHaveBegun }: Pick<Continuation, 'notes' | 'mayHaveBegun'>,
  draft: RunDraft | null,
  now: number,
): EndWithoutCode {
  const cancelled = notes.cancelled ?? (draft === null ? null : noteOf(draft, now)) ?? { at: now }
  const ending = cancelWith(cancelled.reason, [])
  // A worker with its code may have registered undos before any operation was recorded.
  const mayHaveUndos = notes.hasOperations || notes.cancelled !== null || mayHaveBegun
  const rollback: RollbackRecord = {
    ...{ reason: cancelled.reason ?? 'the run was cancelled', ...notes.undos() },
    skipped: 'The run ended without its code, so the undos that its procedure had registered did not run',
  }
  return {
    ending,
    compose: (mailbox) => {
      const closed = notes.openAsks.map((asked) =>
        closeUnseen(asked, notes.askSlotAt(asked.position), mailbox),
      )
      return {
        events: [
          ...(draft === null ? [] : [cancelledEvent(draft)]),
          ...closed.map(({ event }) => event),
          endedEvent(ending),
        ],
        drafts: [],
        effects: [...(draft?.effects ?? []), ...closed.map(({ effect }) => effect)],
        next: { do: 'end', state: 'cancelled' },
        info: describeEnding(ending, mailbox.signals, {
          rollback: mayHaveUndos ? rollback : null,
          cancelled,
        }),
      }
    },
  }
}

/** Records the accepted answer to an open question, or that it was withdrawn. `slot`: the number under which it is stored. */
function closeUnseen(
  asked: LogEvent,
  slot: number,
  mailbox: Pick<Mailbox, 'oldest'>,
): { readonly event: WrittenEvent; readonly effect: Effect } {
  const { position, turn, kind, name, nth } = asked
  const operation = { position, turn, kind, name, nth }
  const message = mailbox.oldest([topicOf('answer', String(slot))])
  if (message === undefined)
    return {
      event: { ...runEvent('withdrawn', null), ...operation },
      effect: { do: 'close-ask', position: slot, status: 'withdrawn' },
    }
  const { checked: _, changed: __, ...answer } = decode(message.payload) as AnswerMessage
  const given: AnswerPayload = { ...answer, at: message.at }
  const outcome =
    kind === 'ail_decision' ? decidedByPerson(given, decode(asked.payload) as AskPayload) : given
  const payload = encodeRecord(outcome, 'answer')
  const tookMs = Math.max(0, message.at - asked.at)
  return {
    event: { ...runEvent('withdrawn', payload), ...operation, type: 'settled', tookMs },
    effect: consume(message.n),
  }
}
