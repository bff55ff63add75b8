import type { RunQuery, RunRow } from '@pawl/core/storage'
import { hasFailedUndo } from '../notices.ts'
import { isDue } from '../ownership.ts'
import type { RunRecord, Tables } from '../tables.ts'
import { showRun } from './runs.ts'

/** Lists runs, the newest first. */
export function listRuns({ runs }: Tables, filter: RunQuery, now: number): readonly RunRow[] {
  return [...runs.values()]
    .filter((run) => isWanted(run, filter, now))
    .sort((a, b) => b.run - a.run)
    .slice(0, filter.limit)
    .map(showRun)
}

function isWanted(run: RunRecord, filter: RunQuery, now: number): boolean {
  const { procedure, statuses, tag, parent, failedUndo, before } = filter
  return (
    (procedure === null || run.procedure === procedure) &&
    (statuses.length === 0 || statuses.includes(readStatus(run, now))) &&
    (tag === null || run.tags.includes(tag)) &&
    (parent === null || run.parent?.run === parent) &&
    (!failedUndo || hasFailedUndo(run)) &&
    (before === null || run.run < before)
  )
}

export function readStatus(run: RunRecord, now: number): RunQuery['statuses'][number] {
  if (run.state !== 'live') return run.state
  if (run.mark !== 'none') return run.mark
  return run.worker !== null || isDue(run, now) ? 'running' : 'waiting'
}
