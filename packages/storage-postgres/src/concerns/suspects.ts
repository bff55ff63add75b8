import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createSuspects({ claiming }: StoreParts): WholeStore['suspects'] {
  return { list: claiming.suspects, endTest: claiming.endTest }
}
