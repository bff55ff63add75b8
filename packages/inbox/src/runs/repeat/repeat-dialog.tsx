import '../../styles/repeat.css'
import type { LogEntry, RepeatPreview, Run } from '@pawl/server/internal'
import { useEffect, useRef, useState } from 'preact/hooks'
import { retryRun } from '../../api/calls.ts'
import type { Fork } from '../../api/fork.ts'
import { forkRun, previewFork, previewRetry } from '../../api/repeats.ts'
import { emptyDraft } from '../../ask/draft.ts'
import { en } from '../../en.ts'
import { announce } from '../../live/announce.ts'
import { go, runHref } from '../../router.ts'
import { Text } from '../../text/text.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { type ForkDraft, isForkable } from './edit.ts'
import { ForkForm } from './fork-form.tsx'
import { Preview } from './preview.tsx'
import { repeatTexts as texts } from './texts.ts'
import { type Call, useCall } from './use-call.ts'

/** The part to be repeated: the failed end of a run, or, in a new run, all that comes after a position. */
export type Repeat =
  | { readonly use: 'retry' }
  | { readonly use: 'fork'; readonly position: number | undefined }

interface Props {
  readonly repeat: Repeat
  readonly run: Run
  /** Newest first. */
  readonly entries: readonly LogEntry[]
  readonly onOlder: (() => void) | null
  readonly onClose: () => void
  readonly onDone: () => Promise<void>
}

/** The request that a confirmation sends. Repeated attempts share one key. */
type Prepared = { readonly preview: RepeatPreview } & (
  | { readonly use: 'retry' }
  | { readonly use: 'fork'; readonly fork: Fork; readonly key: string }
)

/** Retries or forks a run, once a person has seen what will run again. */
export function RepeatDialog(props: Props) {
  const { repeat, run, onClose } = props
  const [prepared, setPrepared] = useState<Prepared | null>(null)
  const [draft, setDraft] = useState<ForkDraft>(() => firstDraft(props))
  const call = useCall()
  useEffect(() => {
    if (repeat.use === 'retry')
      void call.make(async () => setPrepared({ use: 'retry', preview: await previewRetry(run.id) }))
  }, [])
  const prepare = (fork: Fork) =>
    void call.make(async () =>
      setPrepared({ use: 'fork', fork, key: newKey(), preview: await previewFork(run.id, fork) }),
    )
  const confirm = (what: Prepared) =>
    void call.make(async () => {
      if (what.use === 'fork') {
        const { id } = await forkRun(run.id, what.fork, what.key)
        announce(texts.fork.started(id))
        return go(runHref(id))
      }
      await retryRun(run.id)
      announce(en.retried)
      onClose()
      await props.onDone()
    })
  return (
    <Dialog title={texts[repeat.use].title(run.id)} onClose={onClose}>
      <div class="repeat dialog-form">
        {prepared !== null ? (
          <Preview preview={prepared.preview} effects={texts[prepared.use].effects} />
        ) : repeat.use === 'fork' ? (
          <ForkForm {...{ ...props, id: formId, draft, onDraft: setDraft, onFork: prepare }} />
        ) : (
          call.failure === null && <p class="faint">{texts.reading}</p>
        )}
        <Failure text={call.failure} />
        <Buttons
          {...{ repeat, prepared, call, onClose, hasPlace: props.entries.some(isForkable) }}
          onBack={() => setPrepared(null)}
          onConfirm={confirm}
        />
      </div>
    </Dialog>
  )
}

const formId = 'fork-form'

function Buttons(props: {
  readonly repeat: Repeat
  readonly prepared: Prepared | null
  readonly hasPlace: boolean
  readonly call: Call
  readonly onClose: () => void
  readonly onBack: () => void
  readonly onConfirm: (prepared: Prepared) => void
}) {
  const { repeat, prepared, call, onClose } = props
  const busy = call.isBusy ? ('true' as const) : undefined
  return (
    <div class="dialog-actions">
      {prepared?.use === 'fork' ? (
        <button type="button" class="action" onClick={props.onBack}>
          {texts.back}
        </button>
      ) : (
        <button type="button" class="action" onClick={onClose}>
          {texts.doNothing}
        </button>
      )}
      {prepared !== null ? (
        <button
          type="button"
          class="action primary"
          aria-disabled={busy}
          onClick={() => props.onConfirm(prepared)}
        >
          {texts[prepared.use].confirm}
        </button>
      ) : (
        repeat.use === 'fork' &&
        props.hasPlace && (
          <button type="submit" form={formId} class="action primary" aria-disabled={busy}>
            {texts.fork.preview}
          </button>
        )
      )}
    </div>
  )
}

/** Shows a refusal. It takes the focus, since screen readers do not hear announcements behind a dialog. */
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

function firstDraft({ repeat, entries }: Props): ForkDraft {
  const position = repeat.use === 'fork' ? repeat.position : undefined
  return {
    position: position ?? entries.find(isForkable)?.position ?? 0,
    checkpoint: null,
    isEdited: false,
    edit: { json: '', answer: emptyDraft, approved: null },
  }
}

/** Not `randomUUID`, which only pages from a secure origin have. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
    byte.toString(16).padStart(2, '0'),
  ).join('')
}
