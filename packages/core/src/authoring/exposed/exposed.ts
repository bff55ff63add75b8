import { checkShown, refuse } from '../../checks/options.ts'
import { number, optional, readOptions, required, type Spec } from '../../checks/spec.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encode } from '../../events/payload.ts'
import type { ProgressRecord } from '../../events/payloads.ts'
import type { ProcedureDefinition } from '../procedure.ts'
import type { Progress } from './progress.ts'

const maxStateBytes = 256 * 1024
/** Maximum characters of what a run says that it does. Lists show it. */
const maxMessage = 1_000

/** Receives what a procedure shows of itself. */
export interface Exposed {
  expose(name: string, payload: Uint8Array | null): void
  progress(progress: ProgressRecord): void
}

/** Encodes a value for `ctx.expose`. @throws PawlError 'option-invalid', 'payload-refused' */
export function encodeState(
  definition: ProcedureDefinition,
  name: unknown,
  value: unknown,
): Uint8Array | null {
  const declared = checkState(definition, 'expose', name)
  const label = `state ${declared}`
  const payload = encode(value, label)
  if (payload !== null && payload.length > maxStateBytes)
    throw new PawlError(
      'payload-refused',
      { path: label },
      { what: `${label} has ${payload.length} bytes; the limit is ${maxStateBytes}.` },
    )
  return payload
}

/** Returns the name of a declared value. `of`: the method that it was passed to. @throws PawlError 'option-invalid' */
export function checkState(
  { name: procedure, state }: ProcedureDefinition,
  of: string,
  name: unknown,
): string {
  if (typeof name === 'string' && state?.has(name) === true) return name
  const declared = state === undefined || state.size === 0 ? 'no state' : [...state.keys()].join(', ')
  return refuse(`name of ${of}`, name, `Procedure '${procedure}' declares ${declared}.`)
}

const progressOptions = {
  done: required(number(0, Number.MAX_SAFE_INTEGER)),
  total: optional(number(0, Number.MAX_SAFE_INTEGER)),
  message: optional(checkMessage),
} satisfies Spec<Progress>

function checkMessage(option: string, value: unknown): string {
  const text = checkShown(option, value)
  if (text.length > maxMessage)
    refuse(option, value, `It must have at most 1,000 characters; it has ${text.length}.`)
  return text
}

/** Reads the argument of `ctx.progress`. @throws PawlError 'option-invalid' */
export function readProgress(given: unknown): ProgressRecord {
  return readOptions('of progress', given, progressOptions, 'the progress')
}
