import { useState } from 'preact/hooks'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'

export function CopyButton({ text, label }: { readonly text: string; readonly label: string }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text)
      setCopied(true)
      announce(en.copied)
      setTimeout(() => setCopied(false), 2_000)
    } catch {
      // Without permission the text stays selectable on the page.
    }
  }
  return (
    <button type="button" class="small" onClick={() => void copy()}>
      {isCopied ? en.copied : label}
    </button>
  )
}
