import type { RunKey, StateRow } from '@pawl/core/storage'
import type { Database } from '../connection/database.ts'

export type ReadStates = (run: RunKey, name: string | null) => Promise<readonly StateRow[]>

export function prepareReadStates(database: Database): ReadStates {
  const text = `
    select name, at, payload from ${database.names.runState}
    where run = $1 and ($2::text is null or name = $2) order by name collate "C"`
  return (run, name) => database.read<StateRow>(text, [run, name])
}
