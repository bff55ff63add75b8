import type { ProcedureVersions } from './store.ts'

/** Whether a run can be executed with these: `version` null is a run that gets its version when it is claimed. */
export function canExecute(
  abilities: readonly ProcedureVersions[],
  procedure: string,
  version: number | null,
): boolean {
  return abilities.some(
    ({ name, versions }) =>
      name === procedure && (version === null ? versions.length > 0 : versions.includes(version)),
  )
}
