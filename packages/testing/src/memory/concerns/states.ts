import type { WholeStore } from '@pawl/core/storage'
import type { MemoryConnection } from '../connection.ts'
import { readStates } from '../reads/states.ts'

export function createStates(connection: MemoryConnection): WholeStore['states'] {
  return { list: (run, name) => connection.read(() => readStates(connection.tables, run, name)) }
}
