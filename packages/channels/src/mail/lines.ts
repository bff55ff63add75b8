import { type AskFact, clipText, markHidden, toOneLine } from '@pawl/core/internal'

const maxSubject = 150
/** Maximum characters of one text in a mail. The link and the inbox show all of it. */
const maxPart = 5_000
/** Longer lines are wrapped, and the rest of one could read as a line of its own. */
const maxLine = 72

/** Follows a text that was cut. */
const restOfAsk = 'The rest is not in this mail. Read all of it before you answer.'
export const restOfNotice = 'The rest is not in this mail. The inbox has all of it.'
type Rest = typeof restOfAsk | typeof restOfNotice

export function clipSubject(line: string): string {
  return clipText(line, maxSubject)
}

/** A title and a text. The title is one line. */
export function showFact(
  { title, text }: Pick<AskFact, 'title' | 'text'>,
  indent: string,
  rest: Rest = restOfAsk,
): string {
  return `${indent}${toOneLine(title)}: ${show(text, indent, rest)}`
}

/** A short text as it is. Every line of any other is marked, so that none can read as a line of the mail. */
export function show(text: string, indent: string, rest: Rest = restOfAsk): string {
  const shown = markHidden(text)
  if (shown.length <= maxLine && /^\S+( \S+)*$/.test(shown)) return shown
  const all = clipText(shown, maxPart)
  const lines = all.split(/\r?\n/).flatMap((line) => line.match(new RegExp(`.{1,${maxLine}}`, 'gsu')) ?? [''])
  const more = all === shown ? '' : `\n${indent}(${rest})`
  return `\n${lines.map((line) => `${indent}  | ${line}`).join('\n')}${more}`
}
