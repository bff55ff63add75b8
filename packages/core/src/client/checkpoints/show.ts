import type { AskIds } from '../../asks/ask-id.ts'
import { checkpointIdOf } from '../../asks/checkpoints.ts'
import { docsPage } from '../../base/docs.ts'
import { isUnread } from '../../events/codec.ts'
import { decode } from '../../events/payload.ts'
import { readCheckpoint, understand } from '../../ports/rows.ts'
import type { CheckpointRow } from '../../ports/store/checkpoints.ts'
import type { Connection } from '../connection.ts'
import type { Checkpoint } from './checkpoint.ts'

/** @throws PayloadCorrupt, RowCorrupt, WrittenLater */
export function showCheckpoint(askIds: AskIds, row: CheckpointRow): Checkpoint {
  const { run, position, name, at, payload } = readCheckpoint(row)
  return {
    id: checkpointIdOf(askIds, row),
    run,
    position,
    name: name ?? undefined,
    createdAt: new Date(at),
    state: decode(payload),
  }
}

/** As {@link showCheckpoint}; one that cannot be read is null, and there is a warning in the log. */
export function showReadable(connection: Connection, row: CheckpointRow): Checkpoint | null {
  try {
    return understand(() => showCheckpoint(connection.askIds, row))
  } catch (error) {
    if (!isUnread(error)) throw error
    connection.warnOnce(
      `Checkpoint ${checkpointIdOf(connection.askIds, row)} of run ${row.run} cannot be read and is omitted: ${error.message}. See ${docsPage('errors/run-quarantined')}`,
    )
    return null
  }
}
