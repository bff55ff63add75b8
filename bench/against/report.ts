import { spreadOf } from '../base/statistics.ts'
import type { Case } from '../cases.ts'
import type { FigureSpec } from '../figures.ts'
import type { Address } from '../places/place.ts'
import { nameStore, show } from '../report/numbers.ts'
import type { Builds, Side } from './builds.ts'
import { type Comparison, type Costs, limit, type Ratio, type Verdict } from './verdict.ts'

/** One figure of one case on one store. */
export interface Row {
  readonly case: string
  readonly kind: Address['kind']
  readonly figure: FigureSpec
  readonly rounds: readonly Costs[]
  readonly comparison: Comparison
}

const verdicts: { readonly [verdict in Verdict]: string } = {
  within: `within ${limit}`,
  noise: 'within noise',
  beyond: `BEYOND ${limit}`,
}

export function tellLegend({ subject }: Pick<Builds, 'subject'>, rounds: number, folder: string): string {
  return [
    `The working tree against ${subject}; databases in ${folder}`,
    `now/before: the median of ${rounds} rounds (and the middle half of them); above 1 it costs more now.`,
    'A/A: the same of two copies of the working tree, which is what chance alone does.',
  ].join('\n')
}

/** @param names headlines of the two sides and of their ratio */
export function tellContest(
  one: Case,
  kind: Address['kind'],
  rows: readonly Row[],
  names: readonly [string, string, string] = ['before', 'now', 'now/before'],
): string {
  const { name, title, against } = one
  const size = against?.size === undefined ? '' : `, size ${against.size.toLocaleString('en')}`
  return [`\n${name}  ${title}  (${nameStore(kind)}${size})`, headline(names), ...rows.map(tellRow)].join(
    '\n',
  )
}

function headline([before, now, quotient]: readonly [string, string, string]): string {
  return tellCells('', before, now, quotient, 'A/A', '')
}

function tellRow({ figure, rounds, comparison }: Row): string {
  const { title, unit, better } = figure
  const value = (side: Side): string => {
    const { median } = spreadOf(rounds.flatMap((costs) => costs[side]))
    return show(better === 'less' ? median : 1 / median)
  }
  return tellCells(
    `${title}, ${unit}`,
    value('before'),
    value('now'),
    tellRatio(comparison.ratio),
    tellRatio(comparison.control),
    verdicts[comparison.verdict],
  )
}

function tellRatio({ median, low, high }: Ratio): string {
  return `${median.toFixed(2)} (${low.toFixed(2)} to ${high.toFixed(2)})`
}

function tellCells(
  ...[what = '', before = '', now = '', ratio = '', control = '', verdict = '']: string[]
): string {
  const cells = [
    what.padEnd(48),
    before.padStart(9),
    now.padStart(9),
    ratio.padStart(22),
    control.padStart(22),
  ]
  return `  ${cells.join(' ')}   ${verdict}`.trimEnd()
}

/** Returns the number of figures by verdict, and the figures beyond the limit. */
export function tellSummary(rows: readonly Row[]): string {
  const of = (verdict: Verdict): readonly Row[] =>
    rows.filter(({ comparison }) => comparison.verdict === verdict)
  const [beyond, noise] = [of('beyond'), of('noise')]
  const lines = [
    `\n${rows.length} figures: ${of('within').length} within ${limit}, ${noise.length} within noise, ${beyond.length} beyond ${limit}`,
    ...beyond.map(
      ({ case: name, kind, figure, comparison }) =>
        `  BEYOND ${limit}: ${name} (${nameStore(kind)}), ${figure.title}: ${tellRatio(comparison.ratio)}`,
    ),
  ]
  if (noise.length > 0)
    lines.push('What is within noise cannot be told apart: more --rounds, or a quieter machine.')
  return lines.join('\n')
}
