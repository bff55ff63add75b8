import type { ProcedureDefinition } from '../authoring/procedure.ts'
import { type Issue, validate } from '../base/schema.ts'
import { PawlError } from '../errors/pawl-error.ts'
import type { LogEvent } from '../events/event.ts'
import { decode, encode } from '../events/payload.ts'
import type { StartedPayload } from '../events/payloads.ts'

/** All that a run begins from, and every replay of it. */
export interface Start {
  readonly definition: ProcedureDefinition
  /** For random(), uuid() and the keys of steps. */
  readonly seed: Uint8Array
  /** The input as the procedure gets it, made afresh. */
  readonly input: () => unknown
}

/** Reads the first event. An input that its sender could not check is checked here. */
export async function readStart(
  definition: ProcedureDefinition,
  started: LogEvent,
): Promise<Start | { readonly issues: readonly Issue[] }> {
  const { seed, checked, input } = decode(started.payload) as StartedPayload
  if (checked || definition.input === undefined)
    return { definition, seed, input: () => (decode(started.payload) as StartedPayload).input }
  const validation = await validate(definition.input, input)
  if (!validation.ok) return { issues: validation.issues }
  try {
    const bytes = encode(validation.value, 'input')
    return { definition, seed, input: () => decode(bytes) }
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return { issues: [{ path: '', message: `the schema returns what cannot be recorded: ${error.message}` }] }
  }
}
