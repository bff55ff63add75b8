import { useEffect, useRef, useState } from 'preact/hooks'
import { retryRun } from '../../api/calls.ts'
import { previewRetry } from '../../api/repeats.ts'
import type { RepeatPreview, Run } from '../../api/types.ts'
import { en } from '../../en.ts'
import { announce } from '../../live/announce.ts'
import { Text } from '../../text/text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Preview } from './preview.tsx'
import { repeatTexts as texts } from './texts.ts'
import { useCall } from './use-call.ts'

/** Retries a failed run, once a person has seen what will run again. */
export function RepeatDialog(props: {
  readonly run: Run
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}) {
  const { run, onClose } = props
  const [preview, setPreview] = useState<RepeatPreview | null>(null)
  const call = useCall()
  useEffect(() => {
    void call.make(async () => setPreview(await previewRetry(run.id)))
  }, [])
  const confirm = () =>
    call.make(async () => {
      await retryRun(run.id)
      announce(en.retried)
      onClose()
      await props.onDone()
    })
  return (
    <Dialog title={texts.retry.title(run.id)} onClose={onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          if (preview !== null) void confirm()
        }}
      >
        {preview === null && call.failure === null && <p class="faint">{texts.reading}</p>}
        {preview !== null && <Preview preview={preview} effects={texts.retry.effects} />}
        <Failure text={call.failure} />
        <div class="dialog-actions">
          <button type="button" class="action" onClick={onClose}>
            {texts.doNothing}
          </button>
          {preview !== null && (
            <button type="submit" class="action primary" aria-disabled={call.isBusy ? 'true' : undefined}>
              {texts.retry.confirm}
            </button>
          )}
        </div>
      </form>
    </Dialog>
  )
}

/** What was refused. It takes the focus: the page behind a dialog, which announces, is not heard. */
function Failure({ text }: { readonly text: string | null }) {
  const box = useRef<HTMLParagraphElement>(null)
  useEffect(() => box.current?.focus(), [text])
  if (text === null) return null
  return (
    <p class="failure" dir="auto" tabIndex={-1} ref={box}>
      <Text>{text}</Text>
    </p>
  )
}
