import type { Created, NewRun, RunParent } from '@pawl/core/storage'
import { isAlive } from '../ownership.ts'
import { copy, type RunRecord, type Tables } from '../tables.ts'
import { appendEvent } from './event.ts'

/** `parent`: the run that creates it, if one does. */
export function createRun(
  tables: Tables,
  given: NewRun,
  at: number,
  parent: RunParent | null = null,
): Created {
  const known = tables.runs.get(given.id)
  if (known) return { outcome: 'exists', run: known.run }
  const run: RunRecord = {
    run: tables.runs.size + 1,
    id: given.id,
    procedure: given.procedure,
    createdAt: at,
    tags: [...given.tags],
    startedBy: given.startedBy,
    parent,
    events: [],
    messages: [],
    asks: new Map(),
    asksByKey: new Map(),
    states: new Map(),
    version: given.version,
    worker: given.worker,
    wakeAt: null,
    epoch: 1,
    mail: 0,
    state: 'live',
    mark: 'none',
    tries: 0,
    positives: 0,
    alone: 0,
    isTested: false,
    link: copy(given.link),
    reason: null,
    cause: null,
    endedAt: null,
    cancelAt: null,
    info: null,
  }
  if (!isAlive(tables, given.worker)) {
    run.worker = null
    run.wakeAt = at
  }
  appendEvent(run, given.started, null, at, run.worker === null ? 0 : 1)
  tables.runs.set(run.id, run)
  tables.runsByKey.set(run.run, run)
  return { outcome: 'created', run: run.run, at }
}
