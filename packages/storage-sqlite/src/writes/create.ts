import type { ChildRun, Created, NewRun, RunKey, RunParent } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'
import { prepareInsertEvent } from './event.ts'
import { prepareIsAlive } from './workers.ts'

export interface Create {
  create(runs: readonly NewRun[], at: number): readonly Created[]
  /** Creates a run in the commit of its parent. */
  createChild(run: ChildRun, at: number): Created
}

export function prepareCreate(database: Database): Create {
  const insertRun = database.prepare(
    `insert into runs (wake_at, worker, epoch, head, mail, state, mark, tries, created_at, version, procedure, id, link)
     values (?, ?, 1, 1, 0, 0, 0, 0, ?, ?, ?, ?, ?) on conflict (id) do nothing`,
  )
  const findRun = database.prepare<[string], RunKey>('select run from runs where id = ?').pluck()
  const insertInfo = database.prepare(
    'insert into run_info (run, started_by, tags, parent, parent_position) values (?, ?, ?, ?, ?)',
  )
  const insertTag = database.prepare('insert into run_tags (tag, run) values (?, ?) on conflict do nothing')
  const insertEvent = prepareInsertEvent(database)
  const isAlive = prepareIsAlive(database)

  function createOne(given: NewRun, at: number, parent: RunParent | null): Created {
    const { id, procedure, version, started, link, tags, startedBy } = given
    // A dead worker must not own a run, because no sweep would hand it back.
    const worker = given.worker !== null && isAlive(given.worker) ? given.worker : null
    const { changes, lastInsertRowid } = insertRun.run(
      worker === null ? at : null,
      worker,
      at,
      version,
      procedure,
      id,
      link,
    )
    if (changes === 0) return { outcome: 'exists', run: findRun.get(id) as RunKey }
    const run = Number(lastInsertRowid)
    insertEvent(run, 0, at, worker === null ? 0 : 1, started, null)
    insertInfo.run(run, startedBy, JSON.stringify(tags), parent?.run ?? null, parent?.position ?? null)
    for (const tag of tags) insertTag.run(tag, run)
    return { outcome: 'created', run, at }
  }

  return {
    create: (runs, at) => runs.map((run) => createOne(run, at, null)),
    createChild: ({ parent, ...run }, at) => createOne({ ...run, worker: null }, at, parent),
  }
}
