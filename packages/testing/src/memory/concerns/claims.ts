import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { readBacklog } from '../reads/backlog.ts'
import { claimDue, findCancelled, retryStuck, takeCancelled, takeRuns } from '../writes/claim.ts'

export function createClaims(connection: MemoryConnection): WholeStore['claims'] {
  const { tables } = connection
  return {
    claim: (claimant, limit) => connection.read((now) => claimDue(tables, claimant, limit, now)),
    take: (claimant, runs) => connection.read((now) => takeRuns(tables, claimant, runs, now)),
    cancelled: (ageMs, limit) => connection.read((now) => findCancelled(tables, ageMs, limit, now)),
    takeCancelled: (worker, runs) => connection.read((now) => takeCancelled(tables, worker, runs, now)),
    backlog: () => connection.read((now) => readBacklog(tables, now)),
    retryStuck: (claimant) =>
      connection.write(
        (now) => retryStuck(tables, claimant, now),
        (count) => count > 0,
      ),
  }
}
