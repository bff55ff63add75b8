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
  for (const { name, versions } of abilities) {
    if (name !== procedure) continue
    if (version !== null && versions.includes(version)) return version
    if (version === null) for (const one of versions) if (chosen === undefined || one > chosen) chosen = one
  }
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
