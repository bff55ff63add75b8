import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { endTest, findSuspects } from '../writes/claim.ts'

export function createSuspects(connection: MemoryConnection): WholeStore['suspects'] {
  const { tables } = connection
  return {
    list: (claimant, limit) => connection.read((now) => findSuspects(tables, claimant, limit, now)),
    endTest: (worker) => connection.read(() => endTest(tables, worker)),
  }
}
