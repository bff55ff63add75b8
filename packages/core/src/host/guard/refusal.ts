import { PawlError } from '../../errors/pawl-error.ts'

/** The error for a call that a procedure may not make: what was called, and what to use. */
export function refusalOf(call: string, use: string): PawlError<'nondeterministic-call'> {
  return new PawlError('nondeterministic-call', { call, use })
}
