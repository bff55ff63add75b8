import type { WholeStore } from '@pawl/core/storage'
import { prepareCountDescendants } from '../reads/descendants.ts'
import { prepareFindRun } from '../reads/runs.ts'
import { prepareSurvey } from '../reads/survey.ts'
import { prepareCreate } from '../writes/create.ts'
import { prepareMark, prepareRetry } from '../writes/mark.ts'
import { prepareRestart } from '../writes/restart.ts'
import type { StoreParts } from './parts.ts'

export function createRuns({ database, ownership, hints }: StoreParts): WholeStore['runs'] {
  const createAll = prepareCreate(database, ownership)
  const markRun = prepareMark(database, ownership)
  const retryRun = prepareRetry(database)
  const restartAll = prepareRestart(database)
  return {
    async create(runs) {
      if (runs.length === 0) return []
      const created = await createAll(runs)
      // A run that is created claimed needs no other process yet, so no hint is sent.
      if (runs.some(({ worker }) => worker === null)) hints.send()
      return created
    },
    async mark(worker, run, epoch, mark, reason, cause, seen, wakeAt) {
      const isMarked = await markRun(worker, run, epoch, mark, reason, cause, seen, wakeAt)
      if (isMarked) hints.send()
      return isMarked
    },
    async retry(run, mark) {
      const isDue = await retryRun(run, mark)
      if (isDue) hints.send()
      return isDue
    },
    async restart(generations) {
      const isLive = await restartAll(generations)
      if (isLive) hints.send()
      return isLive
    },
    find: prepareFindRun(database),
    countDescendants: prepareCountDescendants(database),
    survey: prepareSurvey(database),
    // Lists need kysely, which takes longer to load than the rest; most processes never use them.
    async list(filter) {
      const { listRuns } = await import('../reads/run-list.ts')
      return listRuns(database, filter)
    },
  }
}
