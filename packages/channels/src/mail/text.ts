import type { Ask } from '@pawl/core'
import { isCritical, partsOfAsk } from '@pawl/core/internal'
import { explainMark, restOfAsk, showPart, subjectLine, toText } from './lines.ts'

/** A subject of one line. It says nothing of a critical ask. */
export function subjectOf(ask: Ask): string {
  return isCritical(ask) ? 'You have a critical request' : subjectLine('Question', ask.message)
}

/** The text of a mail about an open ask. It begins with where it can be answered: no text of the ask stands before that. */
export function openText(ask: Ask, address: string | undefined): string {
  const where = address === undefined ? 'Answer it in the inbox.' : `Answer it here: ${address}`
  const note = 'A reply to this mail is kept as a comment. It does not answer.'
  if (isCritical(ask)) return toText([where, 'It is shown after a login.', note])
  const parts = partsOfAsk(ask).map((one) => showPart(one, restOfAsk))
  return toText([`${where}\n${explainMark}`, ...parts, note])
}

/** The text of a mail about a closed ask. */
export function closedText(ask: Ask): string {
  const { answer, status } = ask
  const end = `It is closed: ${status}. No action is needed.`
  if (isCritical(ask)) return toText([end])
  const question = partsOfAsk(ask).filter(({ of }) => of === 'message')
  const parts = [
    ...question,
    ...(answer === undefined ? [] : [{ heading: 'Answered by', facts: [{ text: answer.by }] }]),
  ]
  return toText([end, ...parts.map((one) => showPart(one, restOfAsk))])
}
