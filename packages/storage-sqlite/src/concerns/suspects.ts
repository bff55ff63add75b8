import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createSuspects({ connection }: StoreParts): WholeStore['suspects'] {
  return {
    list: (claimant, limit) => connection.read(({ claims }, at) => claims.findSuspects(claimant, limit, at)),
    endTest: (worker) => connection.write(({ claims }) => claims.endTest(worker)),
  }
}
