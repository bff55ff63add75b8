import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createAsks({ connection, transactions }: StoreParts): WholeStore['asks'] {
  return {
    answer: (answers, claimant) =>
      transactions.delivering(answers, claimant, ({ answer }, given, at) => answer(given, at)),
    find: (run, position) => connection.read(({ asks }) => asks.readAsk(run, position)),
    findByRunKey: (run, position) => connection.read(({ asks }) => asks.readAskOf(run, position)),
    findByKey: (run, key) => connection.read(({ asks }) => asks.readAskByKey(run, key)),
    // Loaded on demand, as the list of runs.
    async list(filter) {
      const { listAsks } = await import('../reads/ask-list.ts')
      return connection.read(({ readAll }) => listAsks(readAll, filter))
    },
    async count(filter, limit) {
      const { countAsks } = await import('../reads/ask-count.ts')
      return connection.read(({ readAll }) => countAsks(readAll, filter, limit))
    },
  }
}
