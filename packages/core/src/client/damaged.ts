import { PawlError } from '../errors/pawl-error.ts'
import type { Damaged } from '../ports/store/mail.ts'

/** Explains that a run's rows refused a message or an answer. A client marks nothing. */
export function damagedError(run: string, { why }: Damaged): PawlError<'run-quarantined'> {
  const next = 'Nothing was stored by this call; other runs are not affected.'
  return new PawlError('run-quarantined', { run, reason: why }, { next })
}
