import { PayloadCorrupt } from './codec.ts'
import type { StoredEvent } from './event.ts'
import { decode } from './payload.ts'
import type { StartedPayload } from './payloads.ts'

/** Decodes the payload of the first event of a log into a new object. @throws PayloadCorrupt, WrittenLater */
export function readStarted({ type, payload }: Pick<StoredEvent, 'type' | 'payload'>): StartedPayload {
  const value = decode(payload)
  if (type !== 'started' || !isStarted(value)) throw new PayloadCorrupt('does not start a log')
  return value
}

function isStarted(value: unknown): value is StartedPayload {
  const { format, flags } = (value ?? {}) as Partial<StartedPayload>
  return typeof format === 'number' && Array.isArray(flags)
}
