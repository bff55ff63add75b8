import { checkBoolean, checkObject, refuse } from '../../checks/options.ts'
import { milliseconds, optional, readOptions, type Spec, whole } from '../../checks/spec.ts'
import { nextRound } from '../../host/rounds.ts'
import { concernOf } from '../../ports/concerns.ts'
import type { CheckpointPlace, CheckpointStore } from '../../ports/store/checkpoints.ts'
import type { RunKey } from '../../ports/store/runs.ts'
import { actOptions } from '../act-options.ts'
import type { Connection } from '../connection.ts'
import { observeAct } from '../observed.ts'
import type { CheckpointCleanup } from './checkpoint.ts'
import { findCheckpoint } from './list.ts'

/** Places that are read at once, and rows that one transaction deletes. */
const pageSize = 500

/** Deletes a checkpoint, or all of a run. */
export function deleteCheckpoints(
  connection: Connection,
  checkpointOrRun: string,
  given: unknown,
): Promise<number> {
  const { by } = readOptions('of checkpoints.delete', given, actOptions)
  const act = { verb: 'checkpoints.delete', run: undefined, by } as const
  return observeAct(connection, act, () => removeFound(connection, checkpointOrRun))
}

async function removeFound(connection: Connection, checkpointOrRun: string): Promise<number> {
  const store = await connection.begin()
  const checkpoints = concernOf(store, 'checkpoints')
  const row = await findCheckpoint(connection, checkpointOrRun)
  if (row !== null) return checkpoints.remove([row.n])
  const run = (await store.runs.find(checkpointOrRun))?.run
  return run === undefined ? 0 : sweep(checkpoints, run, () => true)
}

const cleanupOptions = {
  olderThan: optional(milliseconds),
  keep: optional(whole(0)),
  onlyFinished: optional(checkBoolean),
} satisfies Spec<CheckpointCleanup>

export async function cleanUp(connection: Connection, given: unknown, as: unknown): Promise<number> {
  const what = checkObject('what of checkpoints.cleanup', given)
  const options = readOptions('of checkpoints.cleanup', what, cleanupOptions)
  const { olderThan, keep, onlyFinished = false } = options
  if (olderThan === undefined && keep === undefined && !onlyFinished)
    refuse(
      'what of checkpoints.cleanup',
      given,
      'Give olderThan, keep or onlyFinished: true. Without one of them, all would be deleted.',
    )
  const { by } = readOptions('of checkpoints.cleanup', as, actOptions)
  const act = { verb: 'checkpoints.cleanup', run: undefined, by } as const
  return observeAct(connection, act, () =>
    removeMatching(connection, { olderThan, keep: keep ?? 0, onlyFinished }),
  )
}

async function removeMatching(
  connection: Connection,
  {
    olderThan,
    keep,
    onlyFinished,
  }: { readonly olderThan: number | undefined; readonly keep: number; readonly onlyFinished: boolean },
): Promise<number> {
  const store = await connection.begin()
  const checkpoints = concernOf(store, 'checkpoints')
  const until = olderThan === undefined ? null : (await store.now()) - olderThan
  const newer = new Map<RunKey, number>()
  return sweep(checkpoints, null, ({ run, state, at }) => {
    const count = newer.get(run) ?? 0
    newer.set(run, count + 1)
    return count >= keep && (until === null || at <= until) && !(onlyFinished && state === 'live')
  })
}

/**
 * Deletes the checkpoints that match. Those of completed runs are deleted too, and not counted: they are over.
 * @param isGone called for each place, the newest first
 */
async function sweep(
  checkpoints: CheckpointStore,
  run: RunKey | null,
  isGone: (place: CheckpointPlace) => boolean,
): Promise<number> {
  let count = 0
  for (let before: number | null = null; ; ) {
    const places: readonly CheckpointPlace[] = await checkpoints.places({ run, before, limit: pageSize })
    const over = places.filter(({ state }) => state === 'completed')
    const gone = places.filter((place) => place.state !== 'completed' && isGone(place))
    if (over.length > 0) await checkpoints.remove(over.map(({ n }) => n))
    if (gone.length > 0) count += await checkpoints.remove(gone.map(({ n }) => n))
    if (places.length < pageSize) return count
    before = places.at(-1)?.n ?? 0
    await nextRound()
  }
}
