import { LogHash, sha256 } from '@pawl/core/internal'
import type { StoredEvent } from '@pawl/core/storage'

/** The hash of a log of fewer than 64 events, as the version that wrote it would have made it. */
export function linkOf(events: readonly StoredEvent[]): Uint8Array {
  const hash = new LogHash(sha256)
  for (const event of events) hash.add(event)
  return hash.link()
}
