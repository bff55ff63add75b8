import type { Json } from '@pawl/server/internal'
import { useState } from 'preact/hooks'
import { isObject } from '../api/json.ts'
import { en } from '../en.ts'
import { formatNumber } from './number.ts'
import { plainOf } from './plain.ts'
import { marked, Text } from './text.tsx'

/** Any payload: short ones in the line, objects of simple values as a table, the rest as JSON. */
export function Value({ value }: { readonly value: Json }) {
  return <Plain value={plainOf(value)} />
}

function Plain({ value }: { readonly value: Json }) {
  if (value === null) return <span class="faint">{en.nothing}</span>
  if (typeof value === 'boolean') return <>{value ? en.yes : en.no}</>
  if (typeof value === 'string') return <LongText text={value} />
  if (typeof value === 'number') return <span class="number">{formatNumber(value)}</span>
  if (Array.isArray(value) && value.length > 0 && value.every(isScalar))
    return <LongText text={value.map(String).join(', ')} />
  if (isObject(value) && Object.keys(value).length > 0 && Object.values(value).every(isScalar))
    return <Pairs value={value} />
  return <LongText text={JSON.stringify(value, null, 2)} isCode />
}

function Pairs({ value }: { readonly value: { readonly [key: string]: Json } }) {
  return (
    <dl class="pairs">
      {Object.entries(value).map(([key, item]) => (
        <div key={key}>
          <dt>
            <Text>{key}</Text>
          </dt>
          <dd>
            <Plain value={item} />
          </dd>
        </div>
      ))}
    </dl>
  )
}

function isScalar(value: Json): boolean {
  return typeof value !== 'object' || value === null
}

const foldedLength = 600
const foldedLines = 12
/** An artifact of 2 MiB opens in pages: a browser cannot lay out more at once without a halt. */
const pageLength = 20_000

/** Long texts are folded; very long ones open page by page. */
export function LongText({ text, isCode = false }: { readonly text: string; readonly isCode?: boolean }) {
  const [shown, setShown] = useState(0)
  const head = headOf(text)
  const isLong = head.length < text.length
  const isBlock = isCode || text.includes('\n') || text.length > 120
  // A block of its own: a line that is read from the right begins there.
  if (!isLong && !isBlock) return <div dir="auto">{marked(text)}</div>
  const visible = shown === 0 ? head : text.slice(0, shown)
  return (
    <>
      <pre class={isCode ? 'block code' : 'block'} dir="auto" tabIndex={isCode ? 0 : undefined}>
        {marked(visible)}
        {visible.length < text.length && '…'}
      </pre>
      {isLong && (
        <button
          type="button"
          class="link"
          onClick={() => setShown(shown >= text.length ? 0 : Math.min(text.length, shown + pageLength))}
        >
          {shown >= text.length ? en.showLess : en.showAll}
        </button>
      )}
    </>
  )
}

function headOf(text: string): string {
  const lines = text.slice(0, foldedLength + 1).split('\n')
  const head = lines.slice(0, foldedLines).join('\n')
  return head.length > foldedLength ? head.slice(0, foldedLength) : head
}
