import type { Json } from '@pawl/server/internal'
import { en } from '../en.ts'
import { lazy } from '../ui/lazy.tsx'
import { plainOf, summaryOf } from './plain.ts'
import { type TableContent, tableOf } from './table.ts'
import { marked, Text } from './text.tsx'
import { LongText, Value } from './value.tsx'

const Markdown = lazy<{ readonly text: string }>(
  async () => (await import('./markdown.tsx')).Markdown,
  LongText,
)
export const Changes = lazy<{ readonly text: string; readonly before: string }>(
  async () => (await import('./changes.tsx')).Changes,
  LongText,
)

/** Shows a payload in the format that its author chose. A value that does not have that form is shown as plain data. */
export function Formatted({ value, as }: { readonly value: Json; readonly as?: string | undefined }) {
  const plain = plainOf(value)
  switch (as) {
    case 'markdown':
      return typeof plain === 'string' ? <Markdown text={plain} /> : <Value value={value} />
    case 'json':
    case 'code':
      return <LongText isCode text={textOf(value)} />
    case 'table': {
      const table = tableOf(plain)
      return table === null ? <Value value={value} /> : <Table {...table} />
    }
    case 'diff':
      return typeof plain === 'string' ? <Patch text={plain} /> : <Value value={value} />
    case 'image':
      return <Picture value={plain} />
    default:
      return typeof plain === 'string' ? <LongText text={plain} /> : <Value value={value} />
  }
}

/** A payload as lines of text, to be compared. */
export function textOf(value: Json): string {
  const plain = plainOf(value)
  return typeof plain === 'string' ? plain : JSON.stringify(plain, null, 2)
}

function Table({ columns, rows }: TableContent) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that scrolls has to be reached by keyboard
    <div class="scroll" tabIndex={0}>
      <table>
        <caption>{en.rows(rows.length)}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>
                <Text>{column}</Text>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={index}>
              {columns.map((column) => (
                <td key={column} class={typeof row[column] === 'number' ? 'number' : undefined}>
                  <Text>{Object.hasOwn(row, column) ? summaryOf(row[column] ?? null) : ''}</Text>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const mostPatchLines = 2_000

/** A unified diff, as its author made it. */
function Patch({ text }: { readonly text: string }) {
  const lines = text.split('\n')
  if (lines.length > mostPatchLines) return <LongText isCode text={text} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="changes" tabIndex={0}>
      {lines.map((line, index) => {
        const kind = /^\+(?!\+\+)/.test(line) ? 'ins' : /^-(?!--)/.test(line) ? 'del' : 'div'
        const Element = kind as 'div'
        return (
          <Element class="line" key={index}>
            <span dir="auto">{line === '' ? ' ' : marked(line)}</span>
          </Element>
        )
      })}
    </div>
  )
}

const maxImageLength = (2 * 1024 * 1024 * 4) / 3

/** Only images that are in the payload itself: one from elsewhere would tell who reads this, and when. */
function Picture({ value }: { readonly value: Json }) {
  const isShown =
    typeof value === 'string' &&
    value.length <= maxImageLength &&
    /^data:image\/(png|jpeg|webp|gif);base64,[A-Za-z0-9+/]+={0,2}$/.test(value)
  if (!isShown) return <p class="faint">{en.imageRefused}</p>
  return <img class="picture" src={value} alt={en.image} />
}
