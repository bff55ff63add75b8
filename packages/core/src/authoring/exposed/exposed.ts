import { checkKeys, checkNumber, checkObject, checkText, refuse } from '../../checks/options.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { encode } from '../../events/payload.ts'
import type { ProgressRecord } from '../../events/payloads.ts'
import type { ProcedureDefinition } from '../procedure.ts'

const maxStateBytes = 256 * 1024

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

/** Reads the argument of `ctx.progress`. @throws PawlError 'option-invalid' */
export function readProgress(given: unknown): ProgressRecord {
  const progress = checkObject('progress', given)
  checkKeys('the progress', progress, ['done', 'total', 'message'])
  const { done, total, message } = progress
  const largest = Number.MAX_SAFE_INTEGER
  return {
    done: checkNumber('done of progress', done, 0, largest),
    ...(total === undefined ? {} : { total: checkNumber('total of progress', total, 0, largest) }),
    ...(message === undefined ? {} : { message: checkText('message of progress', message) }),
  }
}
