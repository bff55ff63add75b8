import { implement } from '../../base/implement.ts'
import { checkName } from '../../checks/options.ts'
import type { Connection } from '../connection.ts'
import type { Checkpoints } from './checkpoint.ts'
import { createCheckpoint } from './create.ts'
import { cleanUp, deleteCheckpoints } from './delete.ts'
import { latestCheckpoint, listAllCheckpoints, listCheckpoints, loadCheckpoint } from './list.ts'

/** Creates the checkpoints of a client. */
export function createCheckpoints(connection: Connection): Checkpoints {
  return implement<Checkpoints>({
    create: async (run: unknown, state: unknown, options?: unknown) =>
      createCheckpoint(connection, checkName('run of checkpoints.create', run), state, options),
    load: async (checkpointOrRun: unknown) =>
      loadCheckpoint(connection, checkName('checkpoint of checkpoints.load', checkpointOrRun)),
    latest: async (run: unknown) => latestCheckpoint(connection, checkName('run of checkpoints.latest', run)),
    list: async (run: unknown) => listCheckpoints(connection, checkName('run of checkpoints.list', run)),
    listAll: async (filter?: unknown) => listAllCheckpoints(connection, filter),
    delete: async (checkpointOrRun: unknown, options?: unknown) =>
      deleteCheckpoints(connection, checkName('checkpoint of checkpoints.delete', checkpointOrRun), options),
    cleanup: async (what: unknown, options?: unknown) => cleanUp(connection, what, options),
  })
}
