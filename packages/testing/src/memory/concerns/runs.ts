import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { countDescendants } from '../reads/descendants.ts'
import { listRuns } from '../reads/run-list.ts'
import { showRun } from '../reads/runs.ts'
import { survey } from '../reads/survey.ts'
import { createRun } from '../writes/create.ts'
import { retryRun, setMark } from '../writes/mark.ts'
import { restartRuns } from '../writes/restart.ts'

export function createRuns(connection: MemoryConnection): WholeStore['runs'] {
  const { tables } = connection
  return {
    create: (runs) => connection.write((now) => runs.map((run) => createRun(tables, run, now))),
    mark: (worker, run, epoch, mark, reason, cause, seen, wakeAt) =>
      connection.write(
        (now) => setMark(tables, worker, run, epoch, mark, reason, cause, seen, wakeAt, now),
        (isMarked) => isMarked,
      ),
    retry: (run, mark) =>
      connection.write(
        (now) => retryRun(tables, run, mark, now),
        (isDue) => isDue,
      ),
    restart: (generations) =>
      connection.write(
        (now) => restartRuns(tables, generations, now),
        (isLive) => isLive,
      ),
    find: (id) =>
      connection.read(() => {
        const run = tables.runs.get(id)
        return run ? showRun(run) : null
      }),
    countDescendants: (id, limit) => connection.read(() => countDescendants(tables, id, limit)),
    survey: (run, id, limit) => connection.read((now) => survey(tables, run, id, limit, now)),
    list: (filter) => connection.read((now) => listRuns(tables, filter, now)),
  }
}
