import {
  type CheckpointPlace,
  type CheckpointPlaceQuery,
  type CheckpointQuery,
  type CheckpointRow,
  hiddenState,
  type RunKey,
  stateCode,
} from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export interface CheckpointReads {
  find(run: RunKey, slot: number): CheckpointRow | null
  list(query: CheckpointQuery): readonly CheckpointRow[]
  places(query: CheckpointPlaceQuery): readonly CheckpointPlace[]
}

const last = Number.MAX_SAFE_INTEGER
const isShown = `runs.state not in (${stateCode.numberOf.completed}, ${hiddenState})`

export function prepareCheckpointReads(database: Database): CheckpointReads {
  const select = `select n, id as run, c.run as runKey, slot, position, seq, at, name, payload
    from checkpoints c join runs on runs.run = c.run where ${isShown}`
  const page = 'c.n < ? order by c.n desc limit ?'
  const one = database.prepare<[RunKey, number], CheckpointRow>(`${select} and c.run = ? and slot = ?`)
  const ofRun = database.prepare<[RunKey, number, number, number], CheckpointRow>(
    `${select} and c.run = ? and at <= ? and ${page}`,
  )
  const ofAll = database.prepare<[number, number, number], CheckpointRow>(`${select} and at <= ? and ${page}`)
  const selectPlaces = `select n, c.run, procedure, state, at from checkpoints c join runs on runs.run = c.run
    where state <> ${hiddenState}`
  type StoredPlace = Omit<CheckpointPlace, 'state'> & { readonly state: number }
  const placesOfRun = database.prepare<[RunKey, number, number], StoredPlace>(
    `${selectPlaces} and c.run = ? and ${page}`,
  )
  const placesOfAll = database.prepare<[number, number], StoredPlace>(`${selectPlaces} and ${page}`)
  return {
    find: (run, slot) => one.get(run, slot) ?? null,
    list: ({ run, until, before, limit }) =>
      run === null
        ? ofAll.all(until ?? last, before ?? last, limit)
        : ofRun.all(run, until ?? last, before ?? last, limit),
    places: ({ run, before, limit }) => {
      const rows =
        run === null ? placesOfAll.all(before ?? last, limit) : placesOfRun.all(run, before ?? last, limit)
      return rows.map((row) => ({ ...row, state: stateCode.wordIfKnown(row.state) }))
    },
  }
}
