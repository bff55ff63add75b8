import { clipText, markHidden, type ShownFact, type ShownPart, toOneLine } from '@pawl/core/internal'

const maxSubject = 150
/** Maximum characters of one text in a mail. The link and the inbox show all of it. */
const maxPart = 5_000
/** Mail programs wrap longer lines, and the second half of one would have no mark. */
const maxLine = 72

/** Begins every line that a run has written. No line of the mail itself begins with it. */
const mark = '| '

/** Tells the reader which lines come from the run. */
export const explainMark = 'Lines that begin with "|" come from the run: no link in them answers.'

/** Follows a text that was cut. */
export const restOfAsk = 'The rest is not in this mail. Read all of it before you answer.'
export const restOfNotice = 'The rest is not in this mail. The inbox has all of it.'
type Rest = typeof restOfAsk | typeof restOfNotice

/** Returns a subject of one line. It begins with a word of the mail itself, so that no text can imitate another kind of mail. */
export function subjectLine(word: string, text: string): string {
  return clipText(`${word}: ${toOneLine(text)}`, maxSubject)
}

/** Returns a part: its heading, and below it the texts of the run, each line with its mark. */
export function showPart({ heading, facts }: Pick<ShownPart, 'heading' | 'facts'>, rest: Rest): string {
  return [heading, ...facts.flatMap((fact) => showFact(fact, rest))].join('\n')
}

/** Shows a short fact on one line. The lines of a longer text have a second mark, so that none can read as another fact. */
function showFact({ title, text, isAddress }: ShownFact, rest: Rest): readonly string[] {
  const shown = isAddress ? toOneLine(text) : markHidden(text)
  const line = title === undefined ? shown : `${toOneLine(title)}: ${shown}`
  if (line.length <= maxLine && /^\S+( \S+)*$/.test(shown)) return [mark + line]
  const inner = title === undefined ? mark : `${mark}  ${mark}`
  // An address that is wrapped could not be opened. It has no spaces.
  const body = isAddress ? [shown] : wrap(clipText(shown, maxPart))
  const isCut = !isAddress && shown.length > maxPart
  return [...showTitle(title), ...body.map((one) => inner + one), ...(isCut ? [`(${rest})`] : [])]
}

function showTitle(title: string | undefined): readonly string[] {
  if (title === undefined) return []
  const [first, ...more] = wrap(`${toOneLine(title)}:`)
  return [`${mark}${first}`, ...more.map((line) => `${mark}  ${line}`)]
}

function wrap(text: string): readonly string[] {
  const lines = text.replaceAll('\t', '  ').split('\n')
  return lines.flatMap((line) => line.match(new RegExp(`.{1,${maxLine}}`, 'gsu')) ?? [''])
}

/** Joins the paragraphs of a mail. */
export function toText(paragraphs: readonly string[]): string {
  return [...paragraphs, ''].join('\n\n')
}
