import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createRuns({ connection, transactions }: StoreParts): WholeStore['runs'] {
  return {
    create(runs) {
      const granted = runs.flatMap(({ id, worker }) => (worker === null ? [] : { id, worker, epoch: 1 }))
      return transactions.granting(({ create }, at) => ({ result: create(runs, at), granted }))
    },
    mark: (worker, run, epoch, mark, reason, cause, seen, wakeAt) =>
      connection.write((statements, at) =>
        statements.mark(worker, run, epoch, mark, reason, cause, seen, wakeAt, at),
      ),
    retry: (run, mark) => connection.write((statements, at) => statements.retry(run, mark, at)),
    restart: (generations) => connection.write(({ restart }, at) => restart(generations, at)),
    find: (id) => connection.read(({ readRun }) => readRun(id)),
    countDescendants: (id, limit) => connection.read(({ countDescendants }) => countDescendants(id, limit)),
    survey: (run, id, limit) => connection.read(({ survey }, at) => survey(run, id, limit, at)),
    // Loaded on demand: lists need kysely, which is slow to load, and most processes never list.
    async list(filter) {
      const { listRuns } = await import('../reads/run-list.ts')
      return connection.read(({ readAll }, at) => listRuns(readAll, filter, at))
    },
  }
}
