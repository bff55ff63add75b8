import type { RunKey, StoredEvent } from '@pawl/core/storage'
import type { Tables } from '../tables.ts'

export function readLog(
  { runsByKey }: Tables,
  key: RunKey,
  seq: number,
  limit: number,
): readonly StoredEvent[] {
  const run = runsByKey.get(key)
  if (!run) return []
  const index = Math.max(0, seq - run.dropped)
  return run.events.slice(index, index + limit)
}
