import type { AskBrief } from '@pawl/server/internal'
import { en } from '../en.ts'

/** Whether people said no. */
export function isRejected({ answer }: AskBrief): boolean {
  return answer?.approved === false || answer?.choice === 'reject'
}

/** How an ask ended, in a word or two: the label of a choice, if one was made. */
export function outcomeOf(ask: AskBrief): string {
  const { answer, choices, decisions, status } = ask
  if (answer === undefined) return en.askStatuses[status]
  if (answer.approved !== undefined) return answer.approved ? en.approvedWord : en.rejectedWord
  const { choice } = answer
  if (choice === undefined) return en.askStatuses[status]
  return [...choices, ...decisions].find(({ value }) => value === choice)?.label ?? choice
}
