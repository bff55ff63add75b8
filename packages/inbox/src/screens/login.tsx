import { useState } from 'preact/hooks'
import { en } from '../en.ts'
import { logInWith } from '../session.ts'
import { Text } from '../text/text.tsx'
import { Icon } from '../ui/icons.tsx'

export function Login({ reason }: { readonly reason: string | undefined }) {
  const [key, setKey] = useState('')
  const [isSending, setSending] = useState(false)
  const submit = async (event: Event) => {
    event.preventDefault()
    // The whole link may be pasted as well.
    const given = key.trim().split('#key=').at(-1) ?? ''
    if (given === '' || isSending) return
    setSending(true)
    await logInWith(given)
    setSending(false)
  }
  return (
    <form class="login" onSubmit={(event) => void submit(event)}>
      <span class="logo" aria-hidden="true">
        <Icon name="check" />
      </span>
      <h1>{en.logInTitle}</h1>
      <p class="faint">{en.logInHelp}</p>
      <div class="field">
        <label class="label" for="key">
          {en.keyLabel}
        </label>
        <input
          id="key"
          type="password"
          autoComplete="current-password"
          value={key}
          aria-invalid={reason ? 'true' : undefined}
          aria-describedby={reason ? 'key-issue' : undefined}
          onInput={(event) => setKey(event.currentTarget.value)}
        />
        {reason && (
          <p class="issues" id="key-issue" role="alert">
            <Text>{reason}</Text>
          </p>
        )}
      </div>
      <button type="submit" class="action primary">
        {en.logIn}
      </button>
    </form>
  )
}
