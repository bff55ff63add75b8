import type { LogEvent } from '../events/event.ts'
import { decode } from '../events/payload.ts'
import type { CheckpointPayload } from '../events/payloads.ts'
import type { CheckpointRow, KeptCheckpoint, NewCheckpoint } from '../ports/store/checkpoints.ts'
import type { RunKey } from '../ports/store/runs.ts'
import { type AskIds, askAddressOf } from './ask-id.ts'

// The slots of checkpoints, which tell them apart in their run and are part of their ids. Pure.

/** Slots up to here are the positions of operations. The others of the first 2^20 are drawn for checkpoints that callers make. */
const firstDrawn = 2 ** 19
const lastSlot = 2 ** 20

/** A checkpoint by its place. */
export type CheckpointSlot =
  | { readonly runKey: RunKey; readonly slot: number }
  | { readonly run: string; readonly slot: number }

/** Returns the slot of the checkpoint of an operation. */
export function slotOf(position: number): number {
  return position < firstDrawn ? position : position + firstDrawn
}

/** Returns the checkpoint that an operation writes. */
export function checkpointAt(position: number, name: string, payload: Uint8Array | null): NewCheckpoint {
  return { slot: slotOf(position), position, name, payload }
}

/** Draws a slot for a checkpoint that a caller makes. */
export function drawSlot(random: number): number {
  return firstDrawn + Math.floor(random * (lastSlot - firstDrawn))
}

/** Returns the id of a checkpoint: 16 hex digits, or the address of an operation beyond position 2^19. */
export function checkpointIdOf(
  askIds: AskIds,
  { runKey, run, slot, position }: Pick<CheckpointRow, 'runKey' | 'run' | 'slot' | 'position'>,
): string {
  return slot < lastSlot ? askIds.idOf({ runKey, run, position: slot }) : askAddressOf({ run, position })
}

/** Reads the id of a checkpoint, or its address; null if the text is neither. */
export function readCheckpointId(askIds: AskIds, text: string): CheckpointSlot | null {
  const place = askIds.read(text)
  if (place === null) return null
  return 'runKey' in place
    ? { runKey: place.runKey, slot: place.position }
    : { run: place.run, slot: slotOf(place.position) }
}

/** Returns the checkpoints that a part of a log records. */
export function checkpointsIn(events: readonly LogEvent[]): readonly KeptCheckpoint[] {
  return events.flatMap(({ type, kind, failed, position, name, at, payload }) => {
    if (type !== 'settled' || kind !== 'checkpoint' || failed) return []
    const { state } = decode(payload) as CheckpointPayload
    return { ...checkpointAt(position, name, state), at, seq: null }
  })
}
