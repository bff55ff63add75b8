import type { ProcedureDefinition } from '../authoring/procedure.ts'
import type { ProcedureVersions } from '../ports/store/workers.ts'
import { type ProcedureInput, writeInputs } from '../runs/procedure-inputs.ts'
import { jsonSchemaOf, refusesUndefined } from '../schemas/schema.ts'

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

  /** Describes what the procedures take, for other processes. */
  describeInputs(): string {
    const inputs: ProcedureInput[] = []
    for (const [name, versions] of this.#byName)
      for (const [version, { input, signals }] of versions)
        inputs.push({
          ...{ name, version, takesInput: input !== undefined },
          ...{ needsInput: input && refusesUndefined(input), schema: input && jsonSchemaOf(input) },
          signals: [...signals.keys()],
        })
    return writeInputs(inputs)
  }

  find(name: string, version: number): ProcedureDefinition | undefined {
    return this.#byName.get(name)?.get(version)
  }
}
