import { PawlError } from '@pawl/core'
import {
  ContinueRequest,
  type Decision,
  decode,
  failureOf,
  isBug,
  isCausedByCancel,
  listIssues,
  type ProcedureDefinition,
  type ProcedureOperation,
  recordFailure,
  showFailure,
  validate,
} from '@pawl/core/internal'
import { brief } from './outcomes/outcome.ts'

type Ended = Exclude<Decision<ProcedureOperation>, { readonly state: 'waiting' }>

/** Maximum length of what names an end, in characters. */
const maxEnd = 200

/** Says how a path has ended. @throws PawlError 'foreign-await', 'nondeterminism' */
export async function nameEnd(
  { name, output, bugs = 'park' }: ProcedureDefinition,
  decision: Ended,
  wasCancelled: boolean,
): Promise<{ readonly end: string; readonly error: unknown }> {
  switch (decision.state) {
    case 'completed': {
      if (decision.output instanceof ContinueRequest)
        return { end: `continues: ${brief(decode(decision.output.input), maxEnd)}`, error: null }
      const checked = output === undefined ? null : await validate(output, decision.output)
      if (checked?.ok === false)
        return { end: `failed: its output is invalid: ${listIssues(checked)}`, error: null }
      return { end: `completed: ${brief(decision.output, maxEnd)}`, error: null }
    }
    case 'failed': {
      const { error } = decision
      if (wasCancelled && isCausedByCancel(error)) return { end: 'cancelled', error }
      const why = showFailure(failureOf(recordFailure(error)))
      const parks = bugs === 'park' && !wasCancelled && isBug(error)
      return { end: `${parks ? 'stuck' : 'failed'}: ${brief(why, maxEnd)}`, error }
    }
    case 'foreign-await':
      throw new PawlError('foreign-await', { run: name, after: decision.after, what: decision.what })
    case 'nondeterminism': {
      const { position, recorded, asked } = decision
      throw new PawlError('nondeterminism', { position, recorded, asked, at: '' })
    }
    case 'unreadable':
      throw decision.error
    case 'stopped':
      throw decision.error
    case 'damaged':
      throw new Error(`The made-up log of "${name}" is damaged: ${decision.what}`)
  }
}
