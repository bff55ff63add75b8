import { drawSlot } from '../../asks/checkpoints.ts'
import { checkBoolean, checkName } from '../../checks/options.ts'
import { optional, readOptions, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encode } from '../../events/payload.ts'
import { concernOf } from '../../ports/concerns.ts'
import type { KnownRun } from '../../ports/rows.ts'
import type { CheckpointRow } from '../../ports/store/checkpoints.ts'
import type { StorePort } from '../../ports/store/store.ts'
import { actOptions } from '../act-options.ts'
import type { Connection } from '../connection.ts'
import { findRun } from '../find-run.ts'
import { readGeneration } from '../log/pages.ts'
import { observeAct } from '../observed.ts'
import type { Checkpoint, CheckpointOptions } from './checkpoint.ts'
import { showCheckpoint } from './show.ts'

const createOptions = {
  name: optional(checkName, null),
  required: optional(checkBoolean, true),
  ...actOptions,
} satisfies Spec<CheckpointOptions>

/** Saves a value at the present position of a run; null if it is not required and the save has failed. */
export async function createCheckpoint(
  connection: Connection,
  run: string,
  state: unknown,
  given: unknown,
): Promise<Checkpoint | null> {
  const { by, ...options } = readOptions('of checkpoints.create', given, createOptions)
  const act = { verb: 'checkpoints.create', run, by } as const
  return observeAct(connection, act, () => save(connection, run, state, options))
}

async function save(
  connection: Connection,
  run: string,
  state: unknown,
  { name, required: isRequired }: { readonly name: string | null; readonly required: boolean },
): Promise<Checkpoint | null> {
  try {
    const payload = encode(state, 'state of checkpoints.create')
    return showCheckpoint(connection.askIds, await add(connection, run, name, payload))
  } catch (error) {
    if (isRequired || PawlError.is(error, 'engine-stopped')) throw error
    connection.warn(`The checkpoint of run ${run} was not saved; the work continues without it`, { error })
    return null
  }
}

async function add(
  connection: Connection,
  id: string,
  name: string | null,
  payload: Uint8Array | null,
): Promise<CheckpointRow> {
  const store = await connection.store()
  const checkpoints = concernOf(store, 'checkpoints')
  for (;;) {
    const row = await findRun(connection, id)
    const { run, head: seq } = row
    if (row.state !== 'live') throw new PawlError('run-ended', { run: id, status: row.state })
    const position = await readPosition(store, row)
    const checkpoint = { slot: drawSlot(connection.entropy.random()), position, name, payload, seq }
    const added = await checkpoints.add(run, checkpoint)
    if (added.outcome === 'added') return { ...checkpoint, n: 0, run: id, runKey: run, at: added.at }
    if (added.outcome === 'missing') throw new PawlError('run-not-found', { run: id })
    // 'ended': the next look says how. 'taken': another slot is drawn.
  }
}

/** Returns the position behind the last result of the present generation. */
async function readPosition(store: StorePort, row: KnownRun): Promise<number> {
  const { run, head, base } = row
  for (let end = head, size = 4; end > base; size *= 4) {
    const first = Math.max(base, end - size)
    const last = (await store.log.load(run, first, end - first)).findLast(({ type }) => type === 'settled')
    if (last !== undefined) return last.position + 1
    end = first
  }
  return (await readGeneration(store, row)).firstPosition
}
