import type { RiskDetails } from '../../authoring/human/ask.ts'
import { formatDuration } from '../../base/duration.ts'
import type { Severity } from '../../base/words.ts'
import type { Ask, Notice } from './views.ts'

/** One thing that a person has to see before they decide. The texts are unescaped. */
export interface AskFact {
  readonly title: string
  readonly text: string
  /** Whether the title is the name of a value, and not the author's own word. */
  readonly isValue: boolean
}

/** Lists what an ask is about, in the order in which it is shown. Every channel and page draws these. */
export function factsOf({
  params,
  artifact,
  baseline,
  error,
  details,
  alternatives,
}: Ask): readonly AskFact[] {
  return [
    ...Object.entries((params ?? {}) as object).map(([title, value]) => fact(title, value, true)),
    ...(artifact === undefined ? [] : [fact('For review', artifact)]),
    ...(baseline === undefined ? [] : [fact('Until now', baseline)]),
    ...(error === undefined ? [] : [fact('Error', error.message)]),
    ...details.map(({ title, body }) => fact(title, body)),
    ...alternatives.map(({ label, description }) =>
      fact('Instead', [label, description].filter(Boolean).join(': ')),
    ),
  ]
}

/** Lists what a notice says beside its message, in the order in which it is shown. */
export function factsOfNotice({ details }: Notice): readonly AskFact[] {
  return details.map(({ title, body }) => fact(title, body))
}

/** The word that every channel and page puts before the message of a notice: a message cannot claim another level. */
export function severityTitle(severity: Severity): string {
  return capitalize(severity)
}

/** Returns the risk in words: its level, and what the author says of it. */
export function riskOf({ level, reasons = [], reversible, impact }: RiskDetails): {
  readonly title: string
  readonly parts: readonly string[]
} {
  const { amount, currency, downtime, affects } = impact ?? {}
  return {
    title: `${capitalize(level)} risk`,
    parts: [
      ...reasons,
      ...(reversible === false ? ['cannot be undone'] : []),
      ...(amount === undefined ? [] : [`${amount} ${currency ?? ''}`.trim()]),
      ...(downtime === undefined
        ? []
        : [`downtime ${typeof downtime === 'number' ? formatDuration(downtime) : downtime}`]),
      ...(affects === undefined ? [] : [`affects ${affects}`]),
    ],
  }
}

function capitalize(word: string): string {
  return `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`
}

function fact(title: string, value: unknown, isValue = false): AskFact {
  return { title, text: payloadText(value), isValue }
}

/** Returns a value as a person reads it: text and numbers as they are, anything else as JSON. */
export function payloadText(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  return JSON.stringify(value, plainPayload, 2) ?? 'none'
}

/** A replacer for values that JSON has no type for, and would leave out or show as something else. */
export function plainPayload(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value)
  if (value instanceof Map) return [...value]
  if (value instanceof Set) return [...value]
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64')
  if (value instanceof Error) return `${value.name}: ${value.message}`
  return value
}
