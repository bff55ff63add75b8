import { PawlError } from '../../errors/pawl-error.ts'

/** Creates the error for a call that a procedure may not make. */
export function refusalOf(call: string, use: string): PawlError<'nondeterministic-call'> {
  return new PawlError('nondeterministic-call', { call, use })
}
