import type { Ask } from '@pawl/core'
import { factsOf, isCritical, riskOf, toOneLine } from '@pawl/core/internal'
import { clipSubject, show, showFact } from './lines.ts'

/** A subject of one line. It says nothing of a critical ask. */
export function subjectOf(ask: Ask): string {
  const line = isCritical(ask) ? 'You have a critical request' : toOneLine(ask.message)
  return clipSubject(line)
}

/** The text of a mail about an open ask, and where it can be answered. */
export function openText(ask: Ask, address: string | undefined): string {
  const where = address === undefined ? 'Answer it in the inbox.' : `Answer it here: ${address}`
  const shown = isCritical(ask) ? ['It is shown after a login.'] : describe(ask)
  return [...shown, where, 'A reply to this mail is kept as a comment. It does not answer.', ''].join('\n\n')
}

/** The text of a mail about a closed ask. */
export function closedText(ask: Ask): string {
  const { answer, status } = ask
  const by = answer === undefined ? `It is closed: ${status}.` : `It was answered by ${toOneLine(answer.by)}.`
  return [
    ...(isCritical(ask) ? [] : [show(ask.message, '').replace(/^\n/, '')]),
    by,
    'No action is needed.',
    '',
  ].join('\n\n')
}

function describe(ask: Ask): readonly string[] {
  const { message, risk, dueAt, onTimeout } = ask
  const facts = factsOf(ask)
  const values = facts.filter(({ isValue }) => isValue)
  return [
    show(message, '').replace(/^\n/, ''),
    ...(risk === undefined ? [] : [[riskOf(risk).title, ...riskOf(risk).parts].map(toOneLine).join(', ')]),
    ...(values.length === 0 ? [] : [`Values:\n${values.map((one) => showFact(one, '  ')).join('\n')}`]),
    ...facts.filter(({ isValue }) => !isValue).map((one) => showFact(one, '')),
    ...ask.decisions.flatMap(({ label, effect }) =>
      effect === undefined ? [] : [showFact({ title: label, text: effect }, '')],
    ),
    ...ask.links.map(({ label, url }) => `${toOneLine(label)}: ${toOneLine(url)}`),
    ...(dueAt === undefined
      ? []
      : [`Due ${dueAt.toUTCString()}${onTimeout === undefined ? '' : `, then ${toOneLine(onTimeout)}`}`]),
  ]
}
