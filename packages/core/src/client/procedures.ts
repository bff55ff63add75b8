import { checkMessages, definitionOf, type ProcedureDefinition } from '../authoring/procedure.ts'
import { checkArray, refuse } from '../checks/options.ts'
import { PawlError } from '../errors/pawl-error.ts'

/**
 * Reads a list of procedures of which each name and version may occur once.
 * @throws PawlError 'option-invalid', 'procedure-duplicate'
 */
export function readProcedures(option: string, given: unknown): readonly ProcedureDefinition[] {
  const definitions = checkArray(option, given).map(
    (one) =>
      definitionOf(one) ??
      refuse(option, one, 'Each must be created by procedure(); a ref has no code to run.'),
  )
  const seen = new Set<string>()
  for (const definition of definitions) {
    const { name, version } = definition
    const identity = JSON.stringify([name, version])
    if (seen.has(identity)) throw new PawlError('procedure-duplicate', { procedure: name })
    seen.add(identity)
    checkMessages(definition)
  }
  return definitions
}
