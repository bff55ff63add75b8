import type { WholeStore } from '@pawl/core/storage'
import { prepareRemovals } from '../writes/remove.ts'
import type { StoreParts } from './parts.ts'

export function createRemovals({ database }: StoreParts): WholeStore['removals'] {
  return prepareRemovals(database)
}
