import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { findCheckpoint, listCheckpointPlaces, listCheckpoints } from '../reads/checkpoints.ts'
import { addCheckpoint, removeCheckpoints } from '../writes/checkpoints.ts'

export function createCheckpoints(connection: MemoryConnection): WholeStore['checkpoints'] {
  const { tables } = connection
  return {
    add: (run, checkpoint) => connection.read((now) => addCheckpoint(tables, run, checkpoint, now)),
    find: (run, slot) => connection.read(() => findCheckpoint(tables, run, slot)),
    list: (query) => connection.read(() => listCheckpoints(tables, query)),
    places: (query) => connection.read(() => listCheckpointPlaces(tables, query)),
    remove: (numbers) => connection.read(() => removeCheckpoints(tables, numbers)),
  }
}
