import type { WholeStore } from '@pawl/core/storage'
import type { StoreParts } from './parts.ts'

export function createStates({ connection }: StoreParts): WholeStore['states'] {
  return { list: (run, name) => connection.read(({ readStates }) => readStates(run, name)) }
}
