/** What one version of a procedure takes, as its worker declares it. */
export interface ProcedureInput {
  readonly name: string
  readonly version: number
  /** Whether it takes an input. */
  readonly takesInput: boolean
  /** Whether its schema refuses a missing input. Undefined if only its worker can tell. */
  readonly needsInput?: boolean | undefined
  /** The JSON Schema of its input; undefined if there is none, or if the schema has no JSON Schema. */
  readonly schema: object | undefined
  /** The names of its signals. Undefined: an earlier version of the worker does not declare them. */
  readonly signals?: readonly string[] | undefined
}

/** Writes the inputs of a worker's procedures as the text that its row holds. */
export function writeInputs(inputs: readonly ProcedureInput[]): string {
  return JSON.stringify(inputs)
}

/** Reads the text of a worker's row. A text of another version counts as not declared. */
export function readInputs(text: string | null): readonly ProcedureInput[] {
  if (text === null) return []
  try {
    const inputs: unknown = JSON.parse(text)
    return Array.isArray(inputs) ? inputs.filter(isInput) : []
  } catch {
    return []
  }
}

function isInput(value: unknown): value is ProcedureInput {
  const { name, version, takesInput } = (value ?? {}) as Partial<ProcedureInput>
  return typeof name === 'string' && typeof version === 'number' && typeof takesInput === 'boolean'
}
