import type { Ask } from '@pawl/server/internal'
import { useEffect, useRef, useState } from 'preact/hooks'
import { en } from '../en.ts'
import { marked, Text } from '../text/text.tsx'
import type { Action } from './actions.ts'
import { Change } from './change.tsx'
import { type AskDraft, paramsOf, readEdits } from './draft.ts'

interface ConfirmationProps {
  readonly ask: Ask
  readonly draft: AskDraft
  readonly action: Action
  readonly isSending: boolean
  readonly onConfirm: () => void
  readonly onCancel: () => void
}

/** The second act of a risky answer; for a critical one a word has to be typed. */
export function Confirmation(props: ConfirmationProps) {
  const { ask, draft, action, isSending, onConfirm, onCancel } = props
  const [typed, setTyped] = useState('')
  const first = useRef<HTMLInputElement & HTMLButtonElement>(null)
  useEffect(() => first.current?.focus(), [])
  const word = wordOf(action)
  const isReady = action.confirm !== 'word' || typed.trim().toLowerCase() === word
  const confirm = () => {
    if (isReady && !isSending) onConfirm()
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
      <Act ask={ask} draft={draft} action={action} />
      {action.confirm === 'word' && (
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
      )}
      <button
        type="button"
        ref={action.confirm === 'word' ? null : first}
        class={`action ${action.style === 'danger' ? 'danger' : 'primary'}`}
        aria-disabled={isReady && !isSending ? undefined : 'true'}
        onClick={confirm}
      >
        {isSending ? en.sending : <Text>{en.confirm(action.label)}</Text>}
      </button>
      <button type="button" class="action plain" onClick={onCancel}>
        {en.cancel}
      </button>
    </div>
  )
}

/** What is about to be done, in the words of the question and with the values that will count. */
function Act({ ask, draft, action: { act } }: Pick<ConfirmationProps, 'ask' | 'draft' | 'action'>) {
  const edits = act.act === 'approve' ? readEdits(ask, draft).value : {}
  return (
    <div class="confirm-act">
      <p dir="auto">{marked(ask.message)}</p>
      {Object.entries(edits).map(([name, value]) => (
        <p key={name} class="change">
          <Text>{name}</Text>
          <Change before={paramsOf(ask)[name] ?? null} after={value} />
        </p>
      ))}
      {ask.risk?.reversible === false && <p class="overdue">{en.irreversible}</p>}
    </div>
  )
}

function wordOf({ act }: Action): string {
  return (act.act === 'choose' ? act.choice : act.act).toLowerCase()
}
