import type {
  CheckpointPlace,
  CheckpointPlaceQuery,
  CheckpointQuery,
  CheckpointRow,
  RunKey,
} from '@pawl/core/storage'
import type { Tables } from '../tables.ts'

export function findCheckpoint({ runsByKey }: Tables, run: RunKey, slot: number): CheckpointRow | null {
  const record = runsByKey.get(run)
  return record === undefined || record.state === 'completed' ? null : (record.checkpoints.get(slot) ?? null)
}

export function listCheckpoints(
  tables: Tables,
  { run, until, before, limit }: CheckpointQuery,
): readonly CheckpointRow[] {
  return newestFirst(tables, run)
    .filter(({ n, at, runKey }) => {
      const isShown = tables.runsByKey.get(runKey)?.state !== 'completed'
      return isShown && (until === null || at <= until) && (before === null || n < before)
    })
    .slice(0, limit)
}

export function listCheckpointPlaces(
  tables: Tables,
  { run, before, limit }: CheckpointPlaceQuery,
): readonly CheckpointPlace[] {
  return newestFirst(tables, run)
    .filter(({ n }) => before === null || n < before)
    .slice(0, limit)
    .flatMap(({ n, runKey, at }) => {
      const record = tables.runsByKey.get(runKey)
      return record === undefined
        ? []
        : { n, run: runKey, procedure: record.procedure, state: record.state, at }
    })
}

function newestFirst({ runsByKey }: Tables, run: RunKey | null): readonly CheckpointRow[] {
  const runs = run === null ? [...runsByKey.values()] : [runsByKey.get(run) ?? []].flat()
  return runs.flatMap(({ checkpoints }) => [...checkpoints.values()]).sort((a, b) => b.n - a.n)
}
