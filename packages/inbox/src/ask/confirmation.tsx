import { useEffect, useRef, useState } from 'preact/hooks'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import type { Action } from './actions.ts'

/** The second act of a risky answer; for a critical one a word has to be typed. */
export function Confirmation(props: {
  readonly action: Action
  readonly onConfirm: () => void
  readonly onCancel: () => void
}) {
  const { action, onConfirm, onCancel } = props
  const [typed, setTyped] = useState('')
  const first = useRef<HTMLInputElement & HTMLButtonElement>(null)
  useEffect(() => first.current?.focus(), [])
  const word = wordOf(action)
  const isReady = action.confirm !== 'word' || typed.trim().toLowerCase() === word
  const confirm = () => {
    if (isReady) onConfirm()
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: a group within a form, without a frame
    <div
      class="confirmation"
      role="group"
      aria-label={en.confirmTitle(action.label)}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel()
      }}
    >
      {action.confirm === 'word' ? (
        <label class="word">
          <span>{en.confirmWord(word)}</span>
          <input
            ref={first}
            type="text"
            autoComplete="off"
            value={typed}
            onInput={(event) => setTyped(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter') confirm()
            }}
          />
        </label>
      ) : (
        <span class="confirm-help">{en.confirmHelp}</span>
      )}
      <button
        type="button"
        ref={action.confirm === 'word' ? null : first}
        class={`action ${action.style === 'danger' ? 'danger' : 'primary'}`}
        aria-disabled={isReady ? undefined : 'true'}
        onClick={confirm}
      >
        <Text>{en.confirm(action.label)}</Text>
      </button>
      <button type="button" class="action plain" onClick={onCancel}>
        {en.cancel}
      </button>
    </div>
  )
}

function wordOf({ act }: Action): string {
  return (act.act === 'choose' ? act.choice : act.act).toLowerCase()
}
