import type { RunKey, StateRow } from '@pawl/core/storage'
import type { Tables } from '../tables.ts'

export function readStates({ runsByKey }: Tables, run: RunKey, name: string | null): readonly StateRow[] {
  const states = [...(runsByKey.get(run)?.states.values() ?? [])]
  return states
    .filter((state) => name === null || state.name === name)
    .map(({ name, at, payload }) => ({ name, at, payload }))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}
