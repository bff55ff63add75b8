import type { RunKey, StateRow } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type ReadStates = (run: RunKey, name: string | null) => readonly StateRow[]

export function prepareReadStates(database: Database): ReadStates {
  const columns = 'select name, at, payload from run_state where run = ?'
  const all = database.prepare<[RunKey], StateRow>(`${columns} order by name`)
  const one = database.prepare<[RunKey, string], StateRow>(`${columns} and name = ?`)
  return (run, name) => (name === null ? all.all(run) : one.all(run, name))
}
