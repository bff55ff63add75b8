import { codeOf, fitLine, mark, type Out, safe } from './out.ts'
import { padTo, widthOf } from './width.ts'

export interface Column<Row> {
  readonly title: string
  readonly of: (row: Row) => string
}

/** More of a row: texts from outside, and a line of the command about the texts that are left out. */
export interface Below {
  readonly lines: readonly string[]
  readonly rest?: string
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
  below?: (row: Row) => Below,
): void {
  if (out.json) return out.print(JSON.stringify(rows))
  if (rows.length === 0) return out.isTerminal ? out.note(none) : undefined
  const cells = rows.map((row) => cellsOf(row, columns))
  if (!out.isTerminal) {
    for (const [index, line] of cells.entries()) {
      const more = below?.(rows[index] as Row)
      const all = more && [...more.lines, ...(more.rest === undefined ? [] : [more.rest])]
      out.print([...line, ...(all === undefined ? [] : [safe(all.join('; '))])].join('\t'))
    }
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
    out.print(fitLine(out, align(line), 0))
    const { lines, rest }: Below = below?.(rows[index] as Row) ?? { lines: [] }
    for (const more of lines) out.print(mark + fitLine(out, more, mark.length))
    if (rest !== undefined) out.print(`  ${rest}`)
  }
}

/** Prints one row at a time, when the others are not known yet: as a JSON line, or tab-separated. */
export function printRow<Row>(
  out: Out,
  row: Row,
  columns: readonly Column<Row>[],
  print: (line: string) => void = out.print,
): void {
  const cells = cellsOf(row, columns)
  print(
    out.json
      ? JSON.stringify(row)
      : out.isTerminal
        ? fitLine(out, `  ${cells.join('  ').trimEnd()}`, 0)
        : cells.join('\t'),
  )
}

/** Two spaces separate columns: only the last cell may have them, so that no cell reads as several. */
function cellsOf<Row>(row: Row, columns: readonly Column<Row>[]): readonly string[] {
  return columns.map(({ of }, index) =>
    index === columns.length - 1 ? safe(of(row)) : safe(of(row)).replace(/(?<=\p{Zs})\p{Zs}/gu, codeOf),
  )
}
