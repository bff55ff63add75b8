import { checkAnswer } from '../../asks/answer-check.ts'
import { IssueList, issuesOf } from '../../base/issues.ts'
import { checkObject, refuse } from '../../checks/options.ts'
import { listIssues } from '../../errors/catalogue.ts'
import { PawlError } from '../../errors/pawl-error.ts'
import { consentedAction } from '../../events/consent.ts'
import type { LogEvent, OperationKind } from '../../events/event.ts'
import { decode, encodeRecord } from '../../events/payload.ts'
import type { AgentResult, AnswerPayload, AskPayload } from '../../events/payloads.ts'
import { checkJsonSchema } from '../../schemas/json-schema/check.ts'
import { withDefaults } from '../../schemas/json-schema/defaults.ts'
import type { KeptAnswer } from '../types.ts'

/** Whether the result of a kind of operation is an answer. The decision of an agent is none, even if people were asked. */
const isAnswerOf: { readonly [K in OperationKind]: boolean } = {
  step: false,
  llm: false,
  timer: false,
  signal: false,
  hitl_approval: true,
  hitl_input: true,
  hitl_select: true,
  hitl_review: true,
  hitl_escalation: true,
  hitl_notification: false,
  ail_decision: false,
  undo: false,
  child: false,
  spawn: false,
  result: false,
  send: false,
  update: false,
  reply: false,
  checkpoint: false,
}

/** What an edit of an answer depends on. */
interface Editing {
  /** The question of the answer; null for the result of another operation. */
  readonly asked: AskPayload | null
  /** Who forks; undefined if the caller does not say. */
  readonly by: string | undefined
  readonly now: number
}

/** Whether the result of an operation is what a person answered, whose question an edit needs. */
export function isAnswer({ kind }: LogEvent): boolean {
  return kind !== null && isAnswerOf[kind]
}

/** The answer of a person upon which the procedure may act again; null for anything else. */
export function answerIn(event: LogEvent): Omit<KeptAnswer, 'run'> | null {
  const { type, kind, name, position, failed, payload } = event
  if (type !== 'settled' || failed || kind === null || consentedAction(kind, name) !== null) return null
  if (!isAnswerOf[kind] && kind !== 'ail_decision') return null
  const { by, madeBy, actedBy } = decode(payload) as Partial<AnswerPayload>
  return { position, name, by: [by, madeBy, actedBy].filter((one) => one !== undefined) }
}

/**
 * Refuses an edit of what was judged, read or asked before an action: a fork does that itself.
 * @throws PawlError 'option-invalid'
 */
export function checkEditable({ position, kind, name }: LogEvent): void {
  const action = kind === null ? null : consentedAction(kind, name)
  if (action !== null)
    refuse(
      `edit.${position} of fork`,
      name,
      `It belongs to the consent to '${action}', which the fork obtains anew. Edit what comes before it, or fork before it.`,
    )
}

/** Encodes the edited result of an operation. @throws PawlError 'option-invalid', 'answer-invalid' */
export function encodeEdit(
  event: LogEvent,
  edited: Uint8Array | null,
  { asked, by, now }: Editing,
): Uint8Array | null {
  const { kind, name, position } = event
  const of = `edit.${position} of fork`
  if (kind === 'step') return edited
  const value = decode(edited)
  switch (kind) {
    case 'llm':
      return encodeRecord(agentResultOf(event, value), of)
    case 'signal':
      return encodeRecord({ name, ...(by === undefined ? {} : { by }), payload: value }, of)
    default:
      if (asked === null)
        return refuse(of, value, `The result of an operation of kind ${kind} cannot be edited.`)
      return encodeRecord(answerOf(asked, position, checkObject(of, value), { by, now }), of)
  }
}

/** The result as the agent would have returned it. */
function agentResultOf({ name, position, payload }: LogEvent, output: unknown): AgentResult {
  const { input, schema } = decode(payload) as Partial<AgentResult>
  const list = new IssueList()
  if (schema !== undefined) checkJsonSchema(schema, output, 'output', list)
  if (list.first !== undefined)
    refuse(
      `edit.${position} of fork`,
      output,
      `The output of agent '${name}' does not match its schema: ${listIssues(list.found)}. The edit is the output alone, without \`usage\`.`,
    )
  return { output, usage: [], ...(input && { input }), ...(schema && { schema }) }
}

/** The answer as its ask would have recorded it, if a person had given it. */
function answerOf(
  ask: AskPayload,
  position: number,
  given: object,
  { by = 'system:fork', now }: Pick<Editing, 'by' | 'now'>,
): AnswerPayload {
  const checked = checkAnswer(ask, complete(ask, given))
  if (checked.ok) return { answer: checked.answer, changed: checked.changed, by, via: 'fork', at: now }
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
