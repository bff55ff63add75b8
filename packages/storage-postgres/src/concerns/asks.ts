import type { WholeStore } from '@pawl/core/storage'
import { prepareFindAsk } from '../reads/asks.ts'
import { prepareAnswer } from '../writes/answer.ts'
import type { StoreParts } from './parts.ts'

export function createAsks({ database, ownership, hints }: StoreParts): WholeStore['asks'] {
  const findAsk = prepareFindAsk(database)
  const answerAll = prepareAnswer(database, ownership, findAsk.byPosition)
  return {
    async answer(answers, claimant) {
      if (answers.length === 0) return []
      const answered = await answerAll(answers, claimant)
      if (answered.some((one) => one.outcome === 'answered')) hints.send()
      return answered
    },
    find: findAsk.byPosition,
    findByRunKey: findAsk.byRunKey,
    findByKey: findAsk.byKey,
    // Loaded on demand, as the list of runs.
    async list(filter) {
      const { listAsks } = await import('../reads/ask-list.ts')
      return listAsks(database, filter)
    },
    async count(filter, limit) {
      const { countAsks } = await import('../reads/ask-count.ts')
      return countAsks(database, filter, limit)
    },
  }
}
