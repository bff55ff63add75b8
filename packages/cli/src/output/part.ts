import type { ShownFact, ShownPart } from '@pawl/core/internal'
import { fitLine, mark, type Out, safe } from './out.ts'
import { breakLine, maxWidthOf } from './width.ts'

/** Longer texts are cut: a person reads them in the browser, or with `--json`. */
const maxLines = 40

export type Print = (line: string) => void

/** Prints a part: its heading, which is the command's own, and below it the texts of the run, each line with the mark. */
export function showPart(
  out: Out,
  { heading, facts }: Pick<ShownPart, 'heading' | 'facts'>,
  print: Print,
): void {
  print(`  ${out.style('bold', heading)}`)
  for (const fact of facts) showFact(out, fact, print)
}

/** Shows a short fact on one line. The lines of a longer text have a second mark, so that none can read as another fact. */
function showFact(out: Out, { title, text, isAddress }: ShownFact, print: Print): void {
  const lines = text.split(/\r\n|\n/)
  const line = title === undefined ? text : `${title}: ${text}`
  if (lines.length === 1 && maxWidthOf(safe(line)) <= out.columns - mark.length)
    return print(mark + safe(line))
  if (title !== undefined) print(mark + fitLine(out, `${title}:`, mark.length, `${mark}  `))
  const inner = title === undefined ? mark : `${mark}  | `
  for (const one of lines.slice(0, maxLines)) {
    // An address that is broken could not be opened. It has no spaces.
    const rows =
      isAddress === true && /^\S+$/.test(one) ? [safe(one)] : breakLine(safe(one), out.columns - inner.length)
    for (const row of rows) print(inner + row)
  }
  const more = lines.length - maxLines
  if (more > 0) print(`  (${more} more ${more === 1 ? 'line' : 'lines'}: --json shows them)`)
}
