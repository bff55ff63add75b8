import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createCheckpoints({ connection }: StoreParts): WholeStore['checkpoints'] {
  return {
    add: (run, checkpoint) => connection.write(({ checkpoints }, at) => checkpoints.add(run, checkpoint, at)),
    find: (run, slot) => connection.read(({ checkpointReads }) => checkpointReads.find(run, slot)),
    list: (query) => connection.read(({ checkpointReads }) => checkpointReads.list(query)),
    places: (query) => connection.read(({ checkpointReads }) => checkpointReads.places(query)),
    remove: (numbers) => connection.write(({ checkpoints }) => checkpoints.remove(numbers)),
  }
}
