import type { WholeStore } from '@pawl/core/storage'
import { prepareCheckpointReads } from '../reads/checkpoints.ts'
import { prepareCheckpointWrites } from '../writes/checkpoints.ts'
import type { StoreParts } from './parts.ts'

export function createCheckpoints({ database }: StoreParts): WholeStore['checkpoints'] {
  return { ...prepareCheckpointReads(database), ...prepareCheckpointWrites(database) }
}
