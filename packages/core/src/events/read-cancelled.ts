import { PayloadCorrupt } from './codec.ts'
import type { LogEvent } from './event.ts'
import { decode } from './payload.ts'
import type { CancelledPayload, CancelNote } from './payloads.ts'

/** Decodes the payload of a `cancelled` event into a new object. @throws PayloadCorrupt, WrittenLater */
export function readCancelled({ payload }: Pick<LogEvent, 'payload'>): CancelledPayload {
  const value = decode(payload)
  if (!isCancelled(value)) throw new PayloadCorrupt('does not say how the run was cancelled')
  return value
}

/** The cancel that an event records, as it is shown. @throws PayloadCorrupt, WrittenLater */
export function noteOfCancel(event: LogEvent): CancelNote | 'forced' {
  const { reason, by, forced } = readCancelled(event)
  if (forced === true) return 'forced'
  return {
    at: event.at,
    ...(reason === undefined ? {} : { reason }),
    ...(by === undefined ? {} : { by }),
  }
}

function isCancelled(value: unknown): value is CancelledPayload {
  if (typeof value !== 'object' || value === null) return false
  const { reason, by, forced } = value as { readonly [member: string]: unknown }
  const isText = (member: unknown) => member === undefined || typeof member === 'string'
  return isText(reason) && isText(by) && (forced === undefined || forced === true)
}
