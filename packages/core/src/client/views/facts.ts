import { formatDuration } from '../../base/duration.ts'
import type { Severity } from '../../base/words.ts'
import type { Ask, Notice } from './views.ts'

/** The fields of an ask that people are shown. An ask in a reply of the HTTP API has them too, once its date is parsed. */
export interface ShownAsk {
  readonly message: string
  readonly risk?: ShownRisk | undefined
  readonly params?: unknown
  readonly artifact?: unknown
  readonly baseline?: unknown
  readonly error?: { readonly message: string } | undefined
  readonly details: readonly { readonly title: string; readonly body?: unknown }[]
  readonly alternatives: readonly { readonly label: string; readonly description?: string | undefined }[]
  readonly decisions: readonly { readonly label: string; readonly effect?: string | undefined }[]
  readonly links: Ask['links']
  readonly dueAt?: Date | undefined
  readonly overdue: boolean
  readonly onTimeout?: string | undefined
}

interface ShownRisk {
  readonly level: string
  readonly reasons?: readonly string[] | undefined
  readonly reversible?: boolean | undefined
  readonly impact?:
    | {
        readonly amount?: number | undefined
        readonly currency?: string | undefined
        readonly downtime?: string | number | undefined
        readonly affects?: string | undefined
      }
    | undefined
}

/** One fact that a run shows to people. Both texts are data, which may come from outside. They are unescaped. */
export interface ShownFact {
  readonly title?: string
  readonly text: string
  /** Whether the text is the address of a link. */
  readonly isAddress?: true
}

/**
 * A heading in Pawl's own words, and the facts of the run below it. A channel must tell the two apart in a way that no text can
 * imitate. Otherwise a text from outside could read as Pawl's own words, or as its link.
 */
export interface ShownPart {
  readonly of: PartOfAsk | PartOfNotice
  readonly heading: string
  readonly facts: readonly ShownFact[]
}

type PartOfNotice = 'message' | 'details' | 'run' | 'links'
type PartOfAsk =
  | 'message'
  | 'risk'
  | 'values'
  | 'artifact'
  | 'baseline'
  | 'error'
  | 'details'
  | 'alternatives'
  | 'effects'
  | 'links'
  | 'due'

/** Lists what a person has to see before they decide, in the order in which every channel and page shows it. */
export function partsOfAsk(ask: ShownAsk): readonly ShownPart[] {
  const { message, risk, params, artifact, baseline, error, details, alternatives, decisions, links } = ask
  return [
    ...part('message', 'Question', [{ text: message }]),
    ...(risk === undefined ? [] : [partOfRisk(risk)]),
    ...part('values', 'Values', Object.entries((params ?? {}) as object).map(toFact)),
    ...part('artifact', 'For review', artifact === undefined ? [] : [{ text: payloadText(artifact) }]),
    ...part('baseline', 'Until now', baseline === undefined ? [] : [{ text: payloadText(baseline) }]),
    ...part('error', 'Error', error === undefined ? [] : [{ text: error.message }]),
    ...part('details', 'Details', details.map(factOfSection)),
    ...part('alternatives', 'Instead', alternatives.map(factOfAlternative)),
    ...part('effects', 'What follows', decisions.flatMap(factOfEffect)),
    ...part('links', 'Links of the run', links.map(factOfLink)),
    ...partOfDue(ask),
  ]
}

/** Lists what a notice says, in the order in which it is shown. Its level is the heading, so that no message can claim another. */
export function partsOfNotice({ severity, message, details, run, links }: Notice): readonly ShownPart[] {
  return [
    ...part('message', severityTitle(severity), [{ text: message }]),
    ...part('details', 'Details', details.map(factOfSection)),
    ...part('links', 'Links of the run', links.map(factOfLink)),
    ...part('run', 'Run', [{ text: run }]),
  ]
}

function part(of: ShownPart['of'], heading: string, facts: readonly ShownFact[]): readonly ShownPart[] {
  return facts.length === 0 ? [] : [{ of, heading, facts }]
}

function partOfRisk(risk: ShownRisk): ShownPart {
  const { title, parts } = riskOf(risk)
  return { of: 'risk', heading: title, facts: parts.map((text) => ({ text })) }
}

function partOfDue({ dueAt, overdue, onTimeout }: ShownAsk): readonly ShownPart[] {
  if (dueAt === undefined) return []
  const heading = `${overdue ? 'Overdue since' : 'Due'} ${dueAt.toUTCString()}`
  return onTimeout === undefined
    ? [{ of: 'due', heading, facts: [] }]
    : part('due', `${heading}, then`, [{ text: onTimeout }])
}

function toFact([title, value]: readonly [string, unknown]): ShownFact {
  return { title, text: payloadText(value) }
}

function factOfSection({ title, body }: ShownAsk['details'][number]): ShownFact {
  return { title, text: payloadText(body) }
}

function factOfAlternative({ label, description }: ShownAsk['alternatives'][number]): ShownFact {
  return description === undefined ? { text: label } : { title: label, text: description }
}

function factOfEffect({ label, effect }: ShownAsk['decisions'][number]): readonly ShownFact[] {
  return effect === undefined ? [] : [{ title: label, text: effect }]
}

/** Shows the address that the link leads to, whatever its label says: without spaces, and a host in its ASCII form. */
function factOfLink({ label, url }: Ask['links'][number]): ShownFact {
  return { title: label, text: URL.canParse(url) ? new URL(url).href : url, isAddress: true }
}

/** The word that every channel and page puts before the message of a notice: a message cannot claim another level. */
export function severityTitle(severity: Severity): string {
  return capitalize(severity)
}

/** Returns the risk in words: its level, and what the author says of it. */
function riskOf({ level, reasons = [], reversible, impact }: ShownRisk): {
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
