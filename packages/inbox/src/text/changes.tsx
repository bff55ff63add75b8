import { diffLines } from 'diff'
import { en } from '../en.ts'
import { marked } from './text.tsx'
import { LongText } from './value.tsx'

const contextLines = 3
/** A comparison that takes longer is not shown: it would halt the page. */
const maxMs = 1_500
const maxLines = 3_000

interface Line {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}
type Row = Line | { readonly kind: 'folded'; readonly count: number }

/** Shows the changes between two texts by line. Unchanged lines are folded. */
export function Changes({ text, before }: { readonly text: string; readonly before: string }) {
  if (text === before) return <p class="faint">{en.noChanges}</p>
  const lines = compare(before, text)
  if (lines === null)
    return (
      <>
        <p class="faint">{en.tooLargeToCompare}</p>
        <LongText text={text} />
      </>
    )
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="changes" tabIndex={0}>
      {fold(lines).map((row, index) =>
        row.kind === 'folded' ? (
          <div class="folded" key={index}>
            {en.unchangedLines(row.count)}
          </div>
        ) : (
          <Changed key={index} line={row} />
        ),
      )}
    </div>
  )
}

function Changed({ line: { kind, text } }: { readonly line: Line }) {
  const content = <span dir="auto">{text === '' ? ' ' : marked(text)}</span>
  if (kind === 'same')
    return (
      <div class="line">
        <span aria-hidden="true"> </span>
        {content}
      </div>
    )
  const Element = kind === 'added' ? 'ins' : 'del'
  return (
    <Element class="line">
      <span aria-hidden="true">{kind === 'added' ? '+' : '−'}</span>
      {content}
    </Element>
  )
}

function compare(before: string, after: string): readonly Line[] | null {
  const parts = diffLines(before, after, { timeout: maxMs })
  if (parts === undefined) return null
  const lines = parts.flatMap(({ added, removed, value }) => {
    const kind = added ? 'added' : removed ? 'removed' : 'same'
    return value
      .replace(/\n$/, '')
      .split('\n')
      .map((text): Line => ({ kind, text }))
  })
  return lines.filter(({ kind }) => kind !== 'same').length > maxLines ? null : lines
}

function fold(lines: readonly Line[]): readonly Row[] {
  const isNear = lines.map(() => false)
  for (const [index, { kind }] of lines.entries())
    if (kind !== 'same')
      isNear.fill(true, Math.max(0, index - contextLines), Math.min(lines.length, index + contextLines + 1))
  const rows: Row[] = []
  let count = 0
  const flush = () => {
    if (count > 0) rows.push({ kind: 'folded', count })
    count = 0
  }
  for (const [index, line] of lines.entries()) {
    if (!isNear[index]) {
      count += 1
      continue
    }
    flush()
    rows.push(line)
  }
  flush()
  return rows
}
