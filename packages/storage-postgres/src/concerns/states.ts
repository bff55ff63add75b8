import type { WholeStore } from '@pawl/core/storage'
import { prepareReadStates } from '../reads/states.ts'
import type { StoreParts } from './parts.ts'

export function createStates({ database }: StoreParts): WholeStore['states'] {
  return { list: prepareReadStates(database) }
}
