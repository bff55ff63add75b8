import { type Out, safe } from './out.ts'
import { padTo, widthOf } from './width.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
}

/**
 * Prints rows: as JSON documents, as aligned columns on a terminal, or tab-separated without a heading in a pipe. `below` lists
 * more of a row: on a terminal a line for each, in a pipe one column with all of it.
 */
export function printRows<Row>(
  out: Out,
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  none: string,
  below?: (row: Row) => readonly string[],
): void {
  if (out.json) return out.print(JSON.stringify(rows))
  if (rows.length === 0) return out.isTerminal ? out.note(none) : undefined
  const cells = rows.map((row) => columns.map(({ of }) => safe(of(row))))
  const linesBelow = (index: number): readonly string[] => below?.(rows[index] as Row) ?? []
  if (!out.isTerminal) {
    for (const [index, line] of cells.entries())
      out.print([...line, ...(below === undefined ? [] : [safe(linesBelow(index).join('; '))])].join('\t'))
    return
  }
  const titles = columns.map(({ title }) => title)
  const widths = titles.map((title, index) =>
    Math.max(title.length, ...cells.map((line) => widthOf(line[index] as string))),
  )
  const align = (line: readonly string[]): string =>
    line
      .map((cell, index) => (index === line.length - 1 ? cell : padTo(cell, widths[index] as number)))
      .join('  ')
      .trimEnd()
  out.print(out.style('dim', align(titles)))
  for (const [index, line] of cells.entries()) {
    out.print(align(line))
    for (const more of linesBelow(index)) out.print(`  ${safe(more)}`)
  }
}

/** Prints one row at a time, when the others are not known yet: as a JSON line, or tab-separated. */
export function printRow<Row>(
  out: Out,
  row: Row,
  columns: readonly Column<Row>[],
  print: (line: string) => void = out.print,
): void {
  const cells = columns.map(({ of }) => safe(of(row)))
  print(
    out.json ? JSON.stringify(row) : out.isTerminal ? `  ${cells.join('  ').trimEnd()}` : cells.join('\t'),
  )
}
