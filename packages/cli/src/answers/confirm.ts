import type { Context } from '../context.ts'
import type { AskJson } from '../door/door.ts'
import { usageError } from '../door/problem.ts'
import type { AnswerJson } from './read-answer.ts'
import { openTerminal } from './terminal.ts'

/**
 * Asks once more before an answer that its ask marks as risky. Outside a terminal it needs `--yes`.
 * @throws CommandError if it is not confirmed: nothing was sent
 */
export async function confirmAnswer(
  { out, signal }: Context,
  ask: AskJson,
  answer: AnswerJson,
  isSure: boolean,
): Promise<void> {
  const value = decisionOf(ask, answer)
  const decision = ask.decisions.find((one) => one.value === value)
  if (isSure || ask.status !== 'open' || decision === undefined || decision.confirm === 'none') return
  const { label, effect, confirm } = decision
  const question = `${label}: ${ask.message}${effect === undefined ? '' : ` (${effect})`}`
  if (!out.canAsk)
    throw usageError(
      `This answer has to be confirmed: ${question}. Pass --yes to give it without a question.`,
    )
  const terminal = openTerminal(signal)
  if (confirm === 'second') {
    if (!(await terminal.agree(question))) throw usageError('Nothing was answered.')
    return
  }
  const check = (line: string) =>
    line.trim().toLowerCase() === decision.value.toLowerCase()
      ? undefined
      : `Type ${decision.value}, or press Ctrl-C.`
  await terminal.enter(`${question}. Type ${decision.value} to confirm`, { check })
}

/** The decision that an answer takes. A resolution may name it. */
function decisionOf({ kind }: AskJson, { approved, choice, decision }: AnswerJson): unknown {
  if (decision !== undefined) return decision
  if (kind === 'input') return 'send'
  return kind === 'approve' ? (approved === true ? 'approve' : 'reject') : choice
}
