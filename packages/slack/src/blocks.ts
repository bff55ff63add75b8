import type { Ask } from '@pawl/core'

// Limits of Slack: a section has 3,000 characters, a button 75, a row of actions 25 elements.
const maxText = 2_900
const maxButton = 75
const maxButtons = 25

/** The id of the comment's field. */
export const commentField = { block: 'pawl_comment', action: 'comment' } as const

/** What a button carries. Slack signs it together with who pressed it. */
export interface ButtonValue {
  readonly ask: string
  readonly decision: string
}

/** The text of notifications and of old clients. */
export function fallbackOf({ message }: Ask): string {
  return escapeText(message).slice(0, maxText)
}

export function openBlocks(ask: Ask, page: string | undefined): readonly object[] {
  const decisions = decisionsOf(ask)
  return [
    ...describe(ask),
    {
      type: 'input',
      block_id: commentField.block,
      optional: true,
      label: plain('Comment'),
      element: { type: 'plain_text_input', action_id: commentField.action, max_length: 3_000 },
    },
    ...(decisions.length > maxButtons
      ? [section('It has more decisions than Slack can show.')]
      : [{ type: 'actions', elements: decisions.map((one) => button(ask, one)) }]),
    ...(page === undefined ? [] : [context(`<${page}|Open in the inbox>`)]),
  ]
}

/** Without buttons: there is nothing left to press. */
export function closedBlocks(ask: Ask): readonly object[] {
  return [section(bold(ask.message)), context(outcomeOf(ask))]
}

function outcomeOf({ kind, status, answer }: Ask): string {
  if (answer === undefined) return `Closed: ${status}`
  const decision =
    'approved' in answer
      ? answer.approved
        ? 'approved'
        : 'rejected'
      : 'choice' in answer
        ? answer.choice
        : kind
  return escapeText(
    `Answered by ${answer.by}${answer.via === undefined ? '' : ` (${answer.via})`}: ${decision}`,
  )
}

interface Decision {
  readonly value: string
  readonly label: string
  readonly style: 'primary' | 'danger' | undefined
  /** Asked before it counts. */
  readonly confirm: string | undefined
}

function decisionsOf({ kind, choices, risk }: Ask): readonly Decision[] {
  const isDangerous = risk?.level === 'high' || risk?.level === 'critical'
  if (kind === 'approve')
    return [
      {
        value: 'approve',
        label: 'Approve',
        style: 'primary',
        confirm: isDangerous ? `The risk is ${risk.level}.` : undefined,
      },
      { value: 'reject', label: 'Reject', style: undefined, confirm: undefined },
    ]
  return choices.map(({ value, label, effect, style }) => ({
    ...{ value, label, style },
    confirm: style === 'danger' || isDangerous ? (effect ?? 'This is marked as dangerous.') : undefined,
  }))
}

function button(ask: Ask, { value, label, style, confirm }: Decision): object {
  const carried: ButtonValue = { ask: ask.id, decision: value }
  return {
    type: 'button',
    action_id: `pawl_${value}`.slice(0, 255),
    text: plain(label),
    value: JSON.stringify(carried),
    ...(style === undefined ? {} : { style }),
    ...(confirm === undefined ? {} : { confirm: confirmation(label, confirm) }),
  }
}

function confirmation(label: string, text: string): object {
  return { title: plain(label), text: plain(text, 300), confirm: plain(label, 30), deny: plain('Back') }
}

function describe({ message, risk, params, artifact, details, dueAt, onTimeout }: Ask): readonly object[] {
  const entries = Object.entries((params ?? {}) as object)
  return [
    section(bold(message)),
    ...(risk === undefined
      ? []
      : [context(escapeText(`Risk: ${[risk.level, ...(risk.reasons ?? [])].join(', ')}`))]),
    ...(entries.length === 0
      ? []
      : [section(entries.map(([name, value]) => escapeText(`${name}: ${show(value)}`)).join('\n'))]),
    ...(artifact === undefined ? [] : [section(escapeText(show(artifact)))]),
    ...details.slice(0, 20).map(({ title, body }) => section(`${bold(title)}\n${escapeText(show(body))}`)),
    ...(dueAt === undefined
      ? []
      : [
          context(
            escapeText(`Due ${dueAt.toUTCString()}${onTimeout === undefined ? '' : `, then ${onTimeout}`}`),
          ),
        ]),
  ]
}

function section(text: string): object {
  return { type: 'section', text: { type: 'mrkdwn', text: text.slice(0, maxText), verbatim: true } }
}

function context(text: string): object {
  return { type: 'context', elements: [{ type: 'mrkdwn', text: text.slice(0, maxText), verbatim: true }] }
}

function plain(text: string, max: number = maxButton): object {
  return { type: 'plain_text', text: text.slice(0, max) }
}

function bold(text: string): string {
  return `*${escapeText(text)}*`
}

/** Slack reads `<…>` as links and mentions. */
function escapeText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function show(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? one.toString() : one)) ?? ''
}
