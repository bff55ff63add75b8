import { refuse } from '../../checks/options.ts'
import { readAskSlot } from '../../ports/ask-slot.ts'
import type { KnownRun } from '../../ports/rows.ts'
import { findCheckpoint } from '../checkpoints/list.ts'
import type { Connection } from '../connection.ts'
import { findAsk } from '../inbox/find.ts'

/** Where a fork leaves its original: just before the result at a position, or where its log had `seq` events. */
export interface ForkPlace {
  readonly position: number
  readonly seq: number | null
}

/** Finds the place of a checkpoint, or of an ask: the id of an ask names the point at which it was asked. @throws PawlError 'option-invalid' */
export async function readForkPlace(
  connection: Connection,
  run: KnownRun,
  from: { readonly position: number } | { readonly checkpoint: string },
): Promise<ForkPlace> {
  if ('position' in from) return { position: from.position, seq: null }
  const { checkpoint: id } = from
  const found =
    (await findCheckpoint(connection, id)) ?? (await findAsk(connection, await connection.store(), id))
  if (found === null)
    return refuse(
      'checkpoint of fork',
      id,
      'There is no checkpoint and no ask with this id; see checkpoints.list.',
    )
  if (found.runKey !== run.run)
    refuse(
      'checkpoint of fork',
      id,
      `It belongs to run ${found.run}: fork that run, or use a checkpoint of ${run.id}.`,
    )
  return 'seq' in found
    ? { position: found.position, seq: found.seq }
    : { position: readAskSlot(found.position).position, seq: null }
}
