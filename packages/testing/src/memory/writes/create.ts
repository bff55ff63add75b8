import type { Created, NewRun, RunParent } from '@pawl/core/storage'
import { isAlive } from '../ownership.ts'
import { copy, type KeptRun, type RunRecord, type Tables } from '../tables.ts'
import { appendEvent } from './event.ts'

/** `parent`: the run that creates it, if one does. */
export function createRun(
  tables: Tables,
  { started, worker, ...given }: NewRun,
  at: number,
  parent: RunParent | null = null,
): Created {
  const known = tables.runs.get(given.id)
  if (known) return { outcome: 'exists', run: known.run }
  const run = makeRecord(tables, given, at)
  Object.assign(run, { ...keepRun(given), parent, worker })
  if (!isAlive(tables, worker)) {
    run.worker = null
    run.wakeAt = at
  }
  appendEvent(run, started, null, at, run.worker === null ? 0 : 1)
  tables.runs.set(run.id, run)
  tables.runsByKey.set(run.run, run)
  return { outcome: 'created', run: run.run, at }
}

/** What the record of a run keeps of the one that was given. */
export function keepRun({ link, tags, startedBy }: KeptRun): KeptRun {
  return { link: copy(link), tags: [...tags], startedBy }
}

/** Makes a record that is in no table yet: live, and neither owned nor due. */
export function makeRecord(
  tables: Tables,
  { id, procedure, version }: Pick<NewRun, 'id' | 'procedure' | 'version'>,
  createdAt: number,
): RunRecord {
  return {
    run: ++tables.newest,
    ...{ id, procedure, version, createdAt },
    ...{ tags: [], startedBy: null, parent: null, info: null },
    ...{ events: [], dropped: 0, messages: [], asks: new Map(), asksByKey: new Map() },
    ...{ states: new Map(), checkpoints: new Map(), notices: [] },
    ...{ worker: null, wakeAt: null, epoch: 1, base: 0, mail: 0, state: 'live', mark: 'none' },
    ...{ tries: 0, positives: 0, alone: 0, isTested: false },
    ...{ link: new Uint8Array(), reason: null, cause: null, endedAt: null, cancelAt: null },
  }
}
