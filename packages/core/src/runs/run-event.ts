import { type NewEvent, noPosition, type WrittenEvent } from '../events/event.ts'

/** Creates an event of the run itself. */
export function runEvent(
  type: 'accepted' | 'marked' | 'cancelled' | 'withdrawn' | 'ended',
  payload: Uint8Array | null,
  failed = false,
): WrittenEvent {
  return {
    type,
    position: noPosition,
    turn: 0,
    kind: null,
    name: '',
    nth: 0,
    failed,
    tookMs: null,
    payload,
    seq: -1,
    at: 0,
    epoch: 0,
    link: null,
  }
}

/** Returns an event that is to be written; the store assigns the rest. */
export function writtenEvent(event: NewEvent): WrittenEvent {
  return { ...event, seq: -1, at: 0, epoch: 0, link: null }
}
