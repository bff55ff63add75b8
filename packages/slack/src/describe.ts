import type { Ask, Notice } from '@pawl/core'
import {
  markHidden,
  partsOfAsk,
  partsOfNotice,
  type ShownFact,
  type ShownPart,
  toOneLine,
} from '@pawl/core/internal'
import { bold, framed, quoted, type RichElement, section } from './rich-text.ts'

/** Slack refuses messages of more than some 13,000 characters; one element takes about 3,000. */
const maxText = 9_000
const maxElement = 2_900
const maxElements = 100
/** A longer line is wrapped, and its second half could read as a fact of its own. */
const maxLine = 80

/** Elements of a message, and whether they show all of what is described. */
export interface Description {
  readonly elements: readonly RichElement[]
  readonly isWhole: boolean
}

/** Describes an ask. */
export function describe(ask: Ask): Description {
  return keepFitting(partsOfAsk(ask).flatMap(showPart))
}

/** Describes a notice, the level first. */
export function describeNotice(notice: Notice): Description {
  return keepFitting(partsOfNotice(notice).flatMap(showPart))
}

/** Returns a part: its heading, and below it the texts of the run, in quotes or frames, which no text can leave. */
export function showPart({ heading, facts }: Pick<ShownPart, 'heading' | 'facts'>): readonly RichElement[] {
  return [section([bold(heading)]), ...facts.flatMap(showFact)]
}

/** A text on one line stands beside its title. Any other is framed, so that none of its lines can read as another fact. */
function showFact({ title, text, isAddress }: ShownFact): readonly RichElement[] {
  const label = title === undefined ? [] : [bold(toOneLine(title))]
  const shown = isAddress ? toOneLine(text) : markHidden(text)
  if (isAddress || isShort(shown))
    return [quoted([...label, { type: 'text', text: title === undefined ? shown : `: ${shown}` }])]
  return [...(title === undefined ? [] : [quoted(label)]), framed(shown)]
}

function isShort(text: string): boolean {
  return text.length <= maxLine && /^\S+( \S+)*$/.test(text)
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
