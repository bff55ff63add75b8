import type { Run } from '@pawl/server/internal'
import { useState } from 'preact/hooks'
import { cancelRun, retryRun } from '../api/calls.ts'
import { ApiError } from '../api/request.ts'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'
import { currentGrant, noteEnded } from '../session.ts'
import { Text } from '../text/text.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { isDoable, type RunAction } from './actions.ts'
import type { Repeat } from './repeat/repeat-dialog.tsx'
import { repeatTexts } from './repeat/texts.ts'

/** The actions on a run. They are at the head of the page, where they never move. */
export function RunActions(props: {
  readonly run: Run
  readonly onRepeat: (repeat: Repeat) => void
  readonly onDone: () => Promise<void>
}) {
  const { run, onRepeat, onDone } = props
  const [isAsking, setAsking] = useState(false)
  const { isSending, failure, act } = useAct(run, onDone)
  if (!currentGrant().operates) return null
  return (
    <div class="run-actions">
      {isDoable('retry', run) && (
        <button
          type="button"
          class="primary"
          aria-disabled={isSending ? 'true' : undefined}
          // A stuck run resumes at its position; a failed one repeats some of its work.
          onClick={() => (run.status === 'failed' ? onRepeat({ use: 'retry' }) : void act('retry'))}
        >
          {run.status === 'failed' ? repeatTexts.retry.button : en.retryRun}
        </button>
      )}
      <button type="button" onClick={() => onRepeat({ use: 'fork', position: undefined })}>
        {repeatTexts.fork.button}
      </button>
      {isDoable('cancel', run) && (
        <button type="button" onClick={() => setAsking(true)}>
          {en.cancelRun}
        </button>
      )}
      {failure !== null && (
        <p class="failure" dir="auto">
          <Text>{failure}</Text>
        </p>
      )}
      {isAsking && (
        <CancelDialog
          title={en.cancelTitle(run.id)}
          onClose={() => setAsking(false)}
          onConfirm={(reason) => {
            setAsking(false)
            void act('cancel', reason)
          }}
        />
      )}
    </div>
  )
}

/** Retries or cancels a run, one request at a time. */
function useAct(run: Run, onDone: () => Promise<void>) {
  const [isSending, setSending] = useState(false)
  const [failure, setFailure] = useState<string | null>(null)
  const act = async (action: RunAction, reason?: string) => {
    if (isSending) return
    setSending(true)
    setFailure(null)
    try {
      await (action === 'retry' ? retryRun(run.id) : cancelRun(run.id, reason))
      announce(action === 'retry' ? en.retried : en.cancelAsked)
    } catch (error) {
      noteEnded(error)
      const text = error instanceof ApiError ? error.problem.detail : en.actionNotSent
      setFailure(text)
      announce(text)
    }
    setSending(false)
    await onDone()
  }
  return { isSending, failure, act }
}

function CancelDialog(props: {
  readonly title: string
  readonly onClose: () => void
  readonly onConfirm: (reason: string | undefined) => void
}) {
  const [reason, setReason] = useState('')
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        class="dialog-form"
        onSubmit={(event) => {
          event.preventDefault()
          props.onConfirm(reasonOf(reason))
        }}
      >
        <p class="faint">{en.cancelHelp}</p>
        <ReasonField reason={reason} onReason={setReason} />
        <div class="dialog-actions">
          <button type="button" class="action" onClick={props.onClose}>
            {en.keepRunning}
          </button>
          <button type="submit" class="action danger">
            {en.cancelRun}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

export function ReasonField(props: { readonly reason: string; readonly onReason: (reason: string) => void }) {
  return (
    <div class="field">
      <label class="label" for="reason">
        {en.reason} <span class="faint">{en.optional}</span>
      </label>
      <input
        id="reason"
        type="text"
        dir="auto"
        autoComplete="off"
        value={props.reason}
        onInput={(event) => props.onReason(event.currentTarget.value)}
      />
    </div>
  )
}

export function reasonOf(typed: string): string | undefined {
  return typed.trim() === '' ? undefined : typed.trim()
}
