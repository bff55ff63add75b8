import { readCheckpointId } from '../../asks/checkpoints.ts'
import { milliseconds, optional, readOptions, type Spec } from '../../checks/spec.ts'
import { concernOf } from '../../ports/concerns.ts'
import type { CheckpointRow } from '../../ports/store/checkpoints.ts'
import type { Connection } from '../connection.ts'
import { cursorOf, writeCursor } from '../cursor.ts'
import { getAsk } from '../inbox/list.ts'
import type { Page } from '../page.ts'
import type { Ask } from '../views/views.ts'
import type { Checkpoint, CheckpointFilter } from './checkpoint.ts'
import { showReadable } from './show.ts'

const pageSize = 50

/** Returns a checkpoint as stored; null if there is none with this id. */
export async function findCheckpoint(connection: Connection, id: string): Promise<CheckpointRow | null> {
  const store = await connection.begin()
  const place = readCheckpointId(connection.askIds, id)
  if (place === null) return null
  const run = 'runKey' in place ? place.runKey : (await store.runs.find(place.run))?.run
  return run === undefined ? null : concernOf(store, 'checkpoints').find(run, place.slot)
}

export async function loadCheckpoint(
  connection: Connection,
  checkpointOrRun: string,
): Promise<Checkpoint | null> {
  const row = await findCheckpoint(connection, checkpointOrRun)
  if (row !== null) return showReadable(connection, row)
  const ask = await getAsk(connection, checkpointOrRun)
  return ask === null ? latestCheckpoint(connection, checkpointOrRun) : checkpointOf(ask)
}

/** A run that waits for a person is at a checkpoint, too. */
function checkpointOf({ id, run, position, key, askedAt }: Ask): Checkpoint {
  return { id, run, position, name: key, createdAt: askedAt, state: undefined }
}

export async function latestCheckpoint(connection: Connection, run: string): Promise<Checkpoint | null> {
  for await (const checkpoint of readCheckpoints(connection, run, 1)) return checkpoint
  return null
}

export async function listCheckpoints(connection: Connection, run: string): Promise<readonly Checkpoint[]> {
  const all: Checkpoint[] = []
  for await (const checkpoint of readCheckpoints(connection, run, pageSize)) all.push(checkpoint)
  return all
}

/** Yields the readable checkpoints of a run, newest first. None if there is no such run. */
async function* readCheckpoints(
  connection: Connection,
  id: string,
  limit: number,
): AsyncGenerator<Checkpoint> {
  const store = await connection.begin()
  const checkpoints = concernOf(store, 'checkpoints')
  const run = (await store.runs.find(id))?.run
  if (run === undefined) return
  for (let before: number | null = null; ; ) {
    const rows: readonly CheckpointRow[] = await checkpoints.list({ run, until: null, before, limit })
    for (const row of rows) {
      const shown = showReadable(connection, row)
      if (shown !== null) yield shown
    }
    if (rows.length < limit) return
    before = rows.at(-1)?.n ?? 0
  }
}

const listOptions = {
  olderThan: optional(milliseconds, null),
  cursor: optional(cursorOf(isPlace), null),
} satisfies Spec<CheckpointFilter>

export async function listAllCheckpoints(connection: Connection, given: unknown): Promise<Page<Checkpoint>> {
  const label = 'the filter of checkpoints.listAll'
  const { olderThan, cursor: place } = readOptions('of checkpoints.listAll', given, listOptions, label)
  const store = await connection.begin()
  const checkpoints = concernOf(store, 'checkpoints')
  const until = place === null ? (olderThan === null ? null : (await store.now()) - olderThan) : place.until
  const rows = await checkpoints.list({
    ...{ run: null, until, before: place?.before ?? null },
    limit: pageSize + 1,
  })
  const page = rows.slice(0, pageSize)
  const last = page.at(-1)
  return {
    items: page.flatMap((row) => showReadable(connection, row) ?? []),
    cursor: rows.length > pageSize && last !== undefined ? writeCursor({ until, before: last.n }) : undefined,
  }
}

interface Place {
  readonly until: number | null
  readonly before: number
}

function isPlace(value: unknown): value is Place {
  const { until, before } = (value ?? {}) as Partial<Place>
  return Number.isSafeInteger(before) && (until === null || Number.isSafeInteger(until))
}
