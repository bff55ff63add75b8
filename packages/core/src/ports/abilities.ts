import type { ProcedureVersions } from './store/workers.ts'

/**
 * Returns the version in which a run is executed by a worker that can execute these; undefined if none is. A run whose
 * version is null gets the highest when it is claimed. Several entries of one name count as one.
 */
export function chooseVersion(
  abilities: readonly ProcedureVersions[],
  procedure: string,
  version: number | null,
): number | undefined {
  let chosen: number | undefined
  for (const { name, versions } of abilities)
    if (name === procedure)
      for (const one of versions)
        if (version === null ? chosen === undefined || one > chosen : one === version) chosen = one
  return chosen
}

/** Whether a worker that can execute these can execute the run. */
export function canExecute(
  abilities: readonly ProcedureVersions[],
  procedure: string,
  version: number | null,
): boolean {
  return chooseVersion(abilities, procedure, version) !== undefined
}
