import type { Ask, Notice } from '@pawl/core'
import {
  type AskFact,
  factsOf,
  factsOfNotice,
  markHidden,
  riskOf,
  severityTitle,
  toOneLine,
} from '@pawl/core/internal'
import { bold, framed, name, type RichElement, section } from './rich-text.ts'

/** Slack refuses messages of more than some 13,000 characters; one element takes about 3,000. */
const maxText = 9_000
const maxElement = 2_900
const maxElements = 100
/** A longer line is wrapped, and its second half could read as a value of its own. */
const maxLine = 80

/** Elements of a message, and whether they show all of what is described. */
export interface Description {
  readonly elements: readonly RichElement[]
  readonly isWhole: boolean
}

/** Describes an ask. */
export function describe(ask: Ask): Description {
  return keepFitting([...head(ask), ...factsOf(ask).flatMap(factElements), ...tail(ask)])
}

/** Describes a notice, the level first. */
export function describeNotice(notice: Notice): Description {
  const { severity, message, run, links } = notice
  return keepFitting([
    ...factElements({ title: severityTitle(severity), text: message, isValue: false }),
    ...factsOfNotice(notice).flatMap(factElements),
    titled('Run', toOneLine(run)),
    ...links.map(({ label, url }) => titled(label, toOneLine(url))),
  ])
}

function keepFitting(elements: readonly RichElement[]): Description {
  const kept: RichElement[] = []
  let left = maxText
  for (const element of elements) {
    const length = element.elements.reduce((sum, { text }) => sum + text.length, 0)
    if (length > maxElement || length > left || kept.length === maxElements)
      return { elements: kept, isWhole: false }
    kept.push(element)
    left -= length
  }
  return { elements: kept, isWhole: true }
}

function head({ message, risk }: Ask): readonly RichElement[] {
  const text = markHidden(message)
  const isLine = !/[\r\n]/.test(text)
  return [
    ...(isLine ? [section([bold(text)])] : [framed(text)]),
    ...(risk === undefined ? [] : [titled(riskOf(risk).title, riskOf(risk).parts.map(toOneLine).join(', '))]),
  ]
}

/** A value on one line stands beside its name. Any other is framed, so that none of its lines can read as another value. */
function factElements({ title, text, isValue }: AskFact): readonly RichElement[] {
  const label = isValue ? name(toOneLine(title)) : bold(toOneLine(title))
  const shown = markHidden(text)
  if (isShort(shown)) return [section([label, { type: 'text', text: `: ${shown}` }])]
  return [section([label]), framed(shown)]
}

function isShort(text: string): boolean {
  return text.length <= maxLine && /^\S+( \S+)*$/.test(text)
}

function tail({ decisions, links, dueAt, onTimeout }: Ask): readonly RichElement[] {
  return [
    ...decisions.flatMap(({ label, effect }) =>
      effect === undefined ? [] : [titled(label, toOneLine(effect))],
    ),
    ...links.map(({ label, url }) => titled(label, toOneLine(url))),
    ...(dueAt === undefined
      ? []
      : [
          titled(
            'Due',
            toOneLine(`${dueAt.toUTCString()}${onTimeout === undefined ? '' : `, then ${onTimeout}`}`),
          ),
        ]),
  ]
}

function titled(title: string, text: string): RichElement {
  const suffix = text === '' ? [] : [{ type: 'text' as const, text: `: ${text}` }]
  return section([bold(toOneLine(title)), ...suffix])
}
