import { PawlError } from '../../errors/pawl-error.ts'
import { turns } from '../turn.ts'

/** Creates the error for a call that a procedure may not make. */
export function refusalOf(call: string, use: string): PawlError<'nondeterministic-call'> {
  const advice = [...(turns.current?.advice ?? [])].map((one) => ` ${one}.`).join('')
  return new PawlError(
    'nondeterministic-call',
    { call, use },
    advice === '' ? {} : { remedy: `Use ${use} instead.${advice}` },
  )
}
