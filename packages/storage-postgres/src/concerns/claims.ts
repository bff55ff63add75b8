import type { WholeStore } from '@pawl/core/storage'
import { prepareReadBacklog } from '../reads/backlog.ts'
import type { StoreParts } from './parts.ts'

export function createClaims({ database, hints, claiming }: StoreParts): WholeStore['claims'] {
  return {
    claim: claiming.claim,
    take: claiming.take,
    cancelled: claiming.cancelled,
    takeCancelled: claiming.takeCancelled,
    backlog: prepareReadBacklog(database),
    async retryStuck(claimant) {
      const count = await claiming.retryStuck(claimant)
      if (count > 0) hints.send()
      return count
    },
  }
}
