import type { ProcedureVersions } from './store/workers.ts'

/**
 * Chooses the version in which a worker with these abilities executes a run; undefined if it cannot execute it.
 * A run without a version gets the highest when it is claimed. Several entries for one name count as one.
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

/** Returns whether a worker with these abilities can execute the run. */
export function canExecute(
  abilities: readonly ProcedureVersions[],
  procedure: string,
  version: number | null,
): boolean {
  return chooseVersion(abilities, procedure, version) !== undefined
}
