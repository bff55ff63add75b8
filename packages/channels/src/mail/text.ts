import type { Ask } from '@pawl/core'

const maxSubject = 150
const maxPart = 5_000

/** A subject of one line. It says nothing of a critical ask. */
export function subjectOf(ask: Ask): string {
  const line = isCritical(ask) ? 'A critical ask waits for you' : oneLine(ask.message)
  return line.length <= maxSubject ? line : `${line.slice(0, maxSubject - 1)}…`
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
  const by = answer === undefined ? `It is closed: ${status}.` : `It was answered by ${oneLine(answer.by)}.`
  return [...(isCritical(ask) ? [] : [visible(ask.message)]), by, 'Nothing is left to do.', ''].join('\n\n')
}

function describe({ message, risk, params, details, artifact, dueAt, onTimeout }: Ask): readonly string[] {
  const entries = Object.entries((params ?? {}) as object)
  return [
    visible(message),
    ...(risk === undefined ? [] : [`Risk: ${[risk.level, ...(risk.reasons ?? [])].map(oneLine).join(', ')}`]),
    ...(entries.length === 0
      ? []
      : [entries.map(([name, value]) => `${oneLine(name)}: ${show(value)}`).join('\n')]),
    ...(artifact === undefined ? [] : [show(artifact)]),
    ...details.map(({ title, body }) => `${oneLine(title)}: ${show(body)}`),
    ...(dueAt === undefined
      ? []
      : [`Due ${dueAt.toUTCString()}${onTimeout === undefined ? '' : `, then ${onTimeout}`}`]),
  ]
}

function isCritical({ risk, severity }: Ask): boolean {
  return risk?.level === 'critical' || severity === 'critical'
}

function show(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value, showBigint, 2)
  return visible(text.length <= maxPart ? text : `${text.slice(0, maxPart)}… The inbox shows the rest.`)
}

function showBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}

/** Characters that cannot be seen, or that change the direction of text, could make it read as another. */
const invisible = /(?![\t\n])\p{Cc}|\p{Bidi_Control}|[\u00ad\u200b\u2060-\u2064\ufeff]/gu

function visible(text: string): string {
  return text.replace(invisible, '')
}

function oneLine(text: string): string {
  return visible(text).replaceAll(/\s+/g, ' ').trim()
}
