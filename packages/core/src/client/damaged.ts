import { PawlError } from '../errors/pawl-error.ts'
import type { Damaged } from '../ports/store/mail.ts'

/** Creates the error for a message or an answer that was rejected because the run's rows are damaged. A client marks no run. */
export function damagedError(run: string, { why }: Damaged): PawlError<'run-quarantined'> {
  const next = 'Nothing was stored by this call; other runs are not affected.'
  return new PawlError('run-quarantined', { run, reason: why }, { next })
}
