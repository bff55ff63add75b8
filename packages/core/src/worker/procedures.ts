import type { ProcedureDefinition } from '../authoring/procedure.ts'
import type { ProcedureVersions } from '../ports/store/workers.ts'

/** Holds the code of a worker, by name and version. */
export class Procedures {
  readonly #byName = new Map<string, Map<number, ProcedureDefinition>>()
  readonly versions: readonly ProcedureVersions[]

  constructor(definitions: readonly ProcedureDefinition[]) {
    for (const definition of definitions) {
      const { name, version } = definition
      const versions = this.#byName.get(name) ?? new Map<number, ProcedureDefinition>()
      this.#byName.set(name, versions.set(version, definition))
    }
    this.versions = [...this.#byName].map(([name, versions]) => ({ name, versions: [...versions.keys()] }))
  }

  find(name: string, version: number): ProcedureDefinition | undefined {
    return this.#byName.get(name)?.get(version)
  }
}
