import type { Page } from './pages.ts'

/** A row by the headings of its columns. */
export type Row = { readonly [column: string]: string }

/** The tables of a page, each by the heading it stands under; of several under one heading the first. */
export function tablesOf({ text }: Page): ReadonlyMap<string, readonly Row[]> {
  const sections = text.split(/^#+ /m).map((section) => section.split('\n'))
  return new Map(
    sections.flatMap(([heading = '', ...lines]) => {
      const [columns, , ...rows] = lines.slice(lines.findIndex(isRow)).filter(isRow).map(cellsOf)
      return columns === undefined ? [] : [[heading, rows.map((cells) => toRow(columns, cells))]]
    }),
  )
}

function isRow(line: string): boolean {
  return line.startsWith('|')
}

function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())
}

function toRow(columns: readonly string[], cells: readonly string[]): Row {
  return Object.fromEntries(columns.map((column, index) => [column, cells[index] ?? '']))
}
