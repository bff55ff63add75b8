import type { Ask, AskDecision } from '@pawl/core'
import { clipText, isRefusal, partsOfAsk, type ShownFact, toOneLine } from '@pawl/core/internal'
import { describe, showPart } from './describe.ts'
import { inboxLink, notificationOf } from './markup.ts'
import { bold, plain, richText, section } from './rich-text.ts'

// Limits of Slack: a button has 75 characters, a row of actions 25 elements.
const maxButton = 75
const maxButtons = 25
const maxLabel = 2_000

/** The id of the comment's field. */
export const commentField = { block: 'pawl_comment', action: 'comment' } as const

/** The value of a button. Slack signs it together with the person who pressed it. */
export interface ButtonValue {
  readonly ask: string
  readonly decision: string
  /** Digest of what the message shows. Missing in messages of earlier versions. */
  readonly digest?: string
}

/** The text of notifications and of old clients. It begins with a word of the channel itself: no message can claim to be a notice. */
export function fallbackOf({ message }: Ask): string {
  return notificationOf(`Question: ${message}`)
}

/**
 * The message of an open ask. What is approved must be seen: if Slack cannot show all of it, only a refusal has a button, and the
 * others are in the inbox.
 */
export function openBlocks(ask: Ask, page: string | undefined): readonly object[] {
  const shown = describe(ask)
  const isWhole = shown.isWhole && ask.decisions.every(fits) && ask.decisions.length <= maxButtons
  const offered = isWhole
    ? ask.decisions
    : ask.decisions.filter((one) => isRefusal(ask, one.value) && fits(one))
  return [
    richText(shown.elements),
    ...(isWhole
      ? []
      : [richText([section([bold('Slack cannot show all of this ask. Read and decide it in the inbox.')])])]),
    ...(offered.length === 0
      ? []
      : [commentBlock(offered), { type: 'actions', elements: offered.map((one) => button(ask, one)) }]),
    ...(page === undefined ? [] : [inboxLink(page)]),
  ]
}

/** Without buttons: there is nothing left to press. */
export function closedBlocks(ask: Ask): readonly object[] {
  const question = partsOfAsk(ask).filter(({ of }) => of === 'message')
  const outcome = { heading: `Closed: ${ask.status}`, facts: factsOfAnswer(ask) }
  return [richText([...question, outcome].flatMap(showPart))]
}

/** Slack does not check it when a button is pressed: an answer without a required comment is refused, and the person is told. */
function commentBlock(offered: readonly AskDecision[]): object {
  const needing = offered.filter(({ comment }) => comment === 'required').map(({ label }) => toOneLine(label))
  const isAlways = needing.length === offered.length
  const hint = needing.length === 0 || isAlways ? [] : [`required for: ${needing.join(', ')}`]
  return {
    type: 'input',
    block_id: commentField.block,
    optional: !isAlways,
    label: plain(clipText(['Comment', ...hint].join(', '), maxLabel)),
    element: { type: 'plain_text_input', action_id: commentField.action, max_length: 3_000 },
  }
}

function factsOfAnswer({ kind, answer }: Ask): readonly ShownFact[] {
  if (answer === undefined) return []
  const decision =
    'approved' in answer
      ? answer.approved
        ? 'approved'
        : 'rejected'
      : 'choice' in answer
        ? answer.choice
        : kind
  const via = answer.via === undefined ? '' : ` (${answer.via})`
  return [{ text: toOneLine(`Answered by ${answer.by}${via}: ${decision}`) }]
}

/** A label that is cut could read as another one. */
function fits({ label }: AskDecision): boolean {
  return toOneLine(label).length <= maxButton
}

function button(ask: Ask, decision: AskDecision): object {
  const { value, style } = decision
  const carried: ButtonValue = { ask: ask.id, decision: value, digest: ask.digest }
  return {
    type: 'button',
    action_id: `pawl_${value}`.slice(0, 255),
    text: plain(toOneLine(decision.label)),
    value: JSON.stringify(carried),
    ...(style === 'plain' ? {} : { style }),
    ...(decision.confirm === 'none' ? {} : { confirm: confirmation(ask, decision) }),
  }
}

/** A second press. Slack has no dialog in which a word has to be typed. */
function confirmation({ risk }: Ask, { label, effect, style }: AskDecision): object {
  const why =
    effect ??
    (style === 'danger' || risk === undefined ? 'This is marked as dangerous.' : `The risk is ${risk.level}.`)
  return {
    title: plain(clipText(toOneLine(label), 100)),
    text: plain(clipText(toOneLine(why), 300)),
    confirm: plain(clipText(toOneLine(label), 30)),
    deny: plain('Back'),
  }
}
