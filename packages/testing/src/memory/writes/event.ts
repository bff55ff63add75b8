import type { NewEvent } from '@pawl/core/storage'
import { copy, headOf, type RunRecord } from '../tables.ts'

export function appendEvent(
  run: RunRecord,
  event: NewEvent,
  link: Uint8Array | null,
  at: number,
  epoch: number = run.epoch,
): void {
  const { type, position, turn, kind, name, nth, failed, tookMs, payload } = event
  const bytes = { payload: copy(payload), link: copy(link) }
  run.events.push({
    seq: headOf(run),
    at,
    epoch,
    type,
    position,
    turn,
    kind,
    name,
    nth,
    failed,
    tookMs,
    ...bytes,
  })
}
