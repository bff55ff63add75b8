import { checkAnswer } from '../../asks/answer-check.ts'
import { readAskPayload } from '../../asks/ask.ts'
import { withDefaults } from '../../asks/json-schema/defaults.ts'
import { issuesOf } from '../../base/issues.ts'
import { checkObject, refuse } from '../../checks/options.ts'
import { listIssues } from '../../errors/catalogue.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import type { LogEvent } from '../../events/event.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { AnswerPayload, AskPayload } from '../../events/payloads.ts'

/** The log in which a result is edited. */
interface Edited {
  /** The events of the original. */
  readonly events: readonly LogEvent[]
  readonly now: () => number
}

/** Encodes the edited result of an operation. @throws PawlError 'option-invalid', 'answer-invalid' */
export function encodeEdit(event: LogEvent, edited: Uint8Array | null, log: Edited): Uint8Array | null {
  const { kind, name, position } = event
  const of = `edit.${position} of fork`
  if (kind === 'step') return edited
  const value = decode(edited)
  switch (kind) {
    case 'llm':
      return encodeRecord({ output: value, usage: [] }, of)
    case 'signal':
      return encodeRecord({ name, payload: value }, of)
    case 'hitl_approval':
    case 'hitl_input':
    case 'hitl_select':
    case 'hitl_review':
    case 'hitl_escalation':
      return encodeRecord(answerOf(event, checkObject(of, value), log), of)
    default:
      return refuse(of, value, `The result of an operation of kind ${kind} cannot be edited.`)
  }
}

/** The answer as its ask would have recorded it, if a person had given it. */
function answerOf({ position }: LogEvent, given: object, { events, now }: Edited): AnswerPayload {
  const recorded = { by: 'system:fork', at: now() }
  const asked = events.find((event) => event.type === 'asked' && event.position === position)
  // A fork and a retry keep an answer without its question.
  if (asked === undefined) return { answer: given, ...recorded }
  const ask = readAskPayload(asked.payload as Uint8Array)
  const checked = checkAnswer(ask, complete(ask, given))
  if (checked.ok) return { answer: checked.answer, changed: checked.changed, ...recorded }
  const issues = issuesOf(checked)
  throw new PawlError('answer-invalid', issues, {
    what: `The edited answer to "${ask.message}" at position ${position} is invalid: ${listIssues(issues)}.`,
    next: 'No run was started.',
    remedy: 'Correct it. See `schema`, `choices` and `editable` of the ask.',
  })
}

/** Adds the defaults of the schema that an answer leaves out. Only the code has a schema that does more, and it is not at hand. */
function complete({ kind, schema }: AskPayload, given: object): object {
  if (kind !== 'input' || schema === undefined || !('value' in given)) return given
  return { ...given, value: withDefaults(schema, given.value) }
}
