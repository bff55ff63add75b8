import type { ProcedureDefinition } from '../../authoring/procedure.ts'
import { type Issues, issuesOf, oneIssue } from '../../base/issues.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { WrittenLater } from '../../events/codec.ts'
import type { LogEvent, WrittenEvent } from '../../events/event.ts'
import { decode, encode } from '../../events/payload.ts'
import { readStarted } from '../../events/read-started.ts'
import { validate } from '../../host/run-schema.ts'
import { acceptsFirst, kernelFlags, logFormat } from '../../kernel/flags.ts'
import { runEvent } from '../../runs/run-event.ts'

/** All that a run begins from, and every replay of it. */
export interface Start {
  readonly definition: ProcedureDefinition
  /** For random(), uuid() and the keys of steps. */
  readonly seed: Uint8Array
  /** The input as the procedure gets it, made afresh. */
  readonly input: () => unknown
  /** To be recorded before anything is done with it: what the schema has made of the input just now. */
  readonly accepted: WrittenEvent | null
}

/**
 * Reads the first event, and of the second what the schema made of an input that its sender could not check. A run
 * that has not come so far has it checked here, and so has one that was begun before that was recorded.
 * @throws PayloadCorrupt, WrittenLater
 */
export async function readStart(
  definition: ProcedureDefinition,
  started: LogEvent,
  second: LogEvent | undefined,
): Promise<Start | Issues> {
  const { format, flags, seed, checked, input } = readStarted(started)
  if (format !== logFormat || flags.some((flag) => !kernelFlags.includes(flag)))
    throw new WrittenLater('its log')
  if (second?.type === 'accepted') {
    // Once before the procedure asks for it: an input that cannot be read is no failure of the procedure.
    decode(second.payload)
    return { definition, seed, input: () => decode(second.payload), accepted: null }
  }
  const hasBegun = second !== undefined && flags.includes(acceptsFirst)
  if (checked || hasBegun || definition.input === undefined) {
    const again = () => readStarted(started).input
    return { definition, seed, input: again, accepted: null }
  }
  const validation = await validate(definition.input, input)
  if (!validation.ok) return issuesOf(validation)
  try {
    const bytes = encode(validation.value, 'input')
    const accepted = second === undefined ? runEvent('accepted', bytes) : null
    return { definition, seed, input: () => decode(bytes), accepted }
  } catch (error) {
    if (!PawlError.is(error, 'payload-refused')) throw error
    return oneIssue('', `the schema returns what cannot be recorded: ${error.message}`)
  }
}
