import type { ChildRun, Created, NewRun, RunKey, RunParent } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { prepareInsertEvent } from './event.ts'
import { infoColumns, runColumns } from './rows.ts'
import { prepareIsAlive } from './workers.ts'

export interface Create {
  create(runs: readonly NewRun[], at: number): readonly Created[]
  /** Creates a run in the commit of its parent. */
  createChild(run: ChildRun, at: number): Created
}

export function prepareCreate(database: Database): Create {
  const insertRun = database.prepare(
    `insert into runs (wake_at, worker, epoch, head, mail, state, mark, tries, created_at, ${runColumns.names})
     values (?, ?, 1, 1, 0, 0, 0, 0, ?, ${runColumns.places}) on conflict (id) do nothing`,
  )
  const findRun = database.prepare<[string], RunKey>('select run from runs where id = ?').pluck()
  const insertInfo = database.prepare(
    `insert into run_info (run, parent, parent_position, ${infoColumns.names})
     values (?, ?, ?, ${infoColumns.places})`,
  )
  const insertTag = database.prepare('insert into run_tags (tag, run) values (?, ?) on conflict do nothing')
  const insertEvent = prepareInsertEvent(database)
  const isAlive = prepareIsAlive(database)

  function createOne(given: NewRun, at: number, parent: RunParent | null): Created {
    // A dead worker must not own a run, because no sweep would hand it back.
    const worker = given.worker !== null && isAlive(given.worker) ? given.worker : null
    const wakeAt = worker === null ? at : null
    const { changes, lastInsertRowid } = insertRun.run(wakeAt, worker, at, ...runColumns.valuesOf(given))
    if (changes === 0) return { outcome: 'exists', run: findRun.get(given.id) as RunKey }
    const run = Number(lastInsertRowid)
    insertEvent(run, 0, at, worker === null ? 0 : 1, given.started, null)
    insertInfo.run(run, parent?.run ?? null, parent?.position ?? null, ...infoColumns.valuesOf(given))
    for (const tag of given.tags) insertTag.run(tag, run)
    return { outcome: 'created', run, at }
  }

  return {
    create: (runs, at) => runs.map((run) => createOne(run, at, null)),
    createChild: ({ parent, ...run }, at) => createOne({ ...run, worker: null }, at, parent),
  }
}
