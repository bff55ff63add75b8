import type { RunRow } from '@pawl/core/storage'
import { headOf, type RunRecord } from '../tables.ts'

export function showRun(run: RunRecord): RunRow {
  const {
    id,
    procedure,
    version,
    state,
    mark,
    wakeAt,
    base,
    link,
    mail,
    tries,
    createdAt,
    endedAt,
    cancelAt,
    tags,
    startedBy,
    parent,
    info,
  } = run
  return {
    run: run.run,
    id,
    procedure,
    version,
    state,
    mark,
    reason: mark === 'none' ? null : run.reason,
    cause: mark === 'none' ? null : run.cause,
    tries,
    owned: run.worker !== null,
    wakeAt,
    head: headOf(run),
    base,
    link,
    mail,
    createdAt,
    endedAt,
    cancelAt,
    tags,
    startedBy,
    parent,
    info,
  }
}
