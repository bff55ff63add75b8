import type { LogEvent } from '../events/event.ts'
import { decode } from '../events/payload.ts'
import type { GenerationPayload, StartedPayload } from '../events/payloads.ts'
import { askSlotOf } from '../ports/ask-slot.ts'

/**
 * Counts how often the operations of a run have asked, for the generation that follows with the past `kept`: it may ask again at
 * each position whose result it does not keep. Pure.
 */
export function askingsAfter(
  { askings: earlier = [] }: Pick<GenerationPayload, 'askings'>,
  events: readonly LogEvent[],
  kept: readonly LogEvent[],
): NonNullable<GenerationPayload['askings']> {
  const stays = new Set(kept.flatMap(({ type, position }) => (type === 'settled' ? position : [])))
  const again = new Set(events.flatMap((event) => (mayHaveAsked(event) ? event.position : [])))
  const times = new Map(earlier)
  for (const position of again) if (!stays.has(position)) times.set(position, (times.get(position) ?? 0) + 1)
  return [...times]
}

/** Returns the number under which the ask at a position is stored, in the generation that a log begins with. */
export function askSlotIn([first]: readonly LogEvent[], position: number): number {
  const { generation } = decode((first as LogEvent).payload) as StartedPayload
  const [, asking] = generation?.askings?.find(([asked]) => asked === position) ?? []
  return askSlotOf({ position, asking: asking ?? 0 })
}

/** A kept past may hold an answer without its question. */
function mayHaveAsked({ type, kind }: LogEvent): boolean {
  if (type !== 'settled') return type === 'asked'
  return kind === 'ail_decision' || (kind?.startsWith('hitl_') === true && kind !== 'hitl_notification')
}
