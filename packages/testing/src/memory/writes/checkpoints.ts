import type { AddedCheckpoint, CheckpointAdded, NewCheckpoint, RunKey } from '@pawl/core/storage'
import { copy, type RunRecord, type Tables } from '../tables.ts'

/** Writes a checkpoint. `seq`: null if an event records it. */
export function putCheckpoint(
  tables: Tables,
  { run: runKey, id: run, checkpoints }: RunRecord,
  { slot, position, name, payload }: NewCheckpoint,
  seq: number | null,
  at: number,
): void {
  const n = ++tables.newestCheckpoint
  checkpoints.set(slot, { n, run, runKey, slot, position, seq, at, name, payload: copy(payload) })
}

export function addCheckpoint(
  tables: Tables,
  key: RunKey,
  checkpoint: AddedCheckpoint,
  at: number,
): CheckpointAdded {
  const run = tables.runsByKey.get(key)
  if (run === undefined) return { outcome: 'missing' }
  if (run.state !== 'live') return { outcome: 'ended', state: run.state }
  if (run.checkpoints.has(checkpoint.slot)) return { outcome: 'taken' }
  putCheckpoint(tables, run, checkpoint, checkpoint.seq, at)
  return { outcome: 'added', at }
}

export function removeCheckpoints({ runsByKey }: Tables, numbers: readonly number[]): number {
  const gone = new Set(numbers)
  let count = 0
  for (const { checkpoints } of runsByKey.values())
    for (const [slot, { n }] of checkpoints) if (gone.has(n) && checkpoints.delete(slot)) count++
  return count
}
