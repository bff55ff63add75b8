import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { countAsks, listAsks } from '../reads/ask-list.ts'
import { showAsk } from '../reads/asks.ts'
import type { AskRecord } from '../tables.ts'
import { giveAnswer } from '../writes/answer.ts'
import { takeRun } from '../writes/claim.ts'

export function createAsks(connection: MemoryConnection): WholeStore['asks'] {
  const { tables } = connection
  const show = (ask: AskRecord | undefined) => (ask ? showAsk(ask) : null)
  return {
    answer: (answers, claimant) =>
      connection.write((now) =>
        answers
          .map((answer) => giveAnswer(tables, answer, now))
          .map((one) =>
            one.outcome === 'answered' ? { ...one, claimed: takeRun(tables, one.run, claimant, now) } : one,
          ),
      ),
    find: (id, position) => connection.read(() => show(tables.runs.get(id)?.asks.get(position))),
    findByRunKey: (run, position) =>
      connection.read(() => show(tables.runsByKey.get(run)?.asks.get(position))),
    findByKey: (id, key) => connection.read(() => show(tables.runs.get(id)?.asksByKey.get(key))),
    list: (filter) => connection.read(() => listAsks(tables, filter)),
    count: (filter, limit) => connection.read(() => countAsks(tables, filter, limit)),
  }
}
