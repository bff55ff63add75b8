import type { Ask, Checkpoint, Issue, LogEntry, Run } from '@pawl/server/internal'
import { type Signal, useSignal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import { getAsk } from '../../api/calls.ts'
import type { Fork } from '../../api/fork.ts'
import { listCheckpoints } from '../../api/repeats.ts'
import { en } from '../../en.ts'
import { issuesAt } from '../../form/field-props.ts'
import { Field } from '../../form/fields.tsx'
import { noteEnded } from '../../session.ts'
import { plainMarks } from '../../text/marks.ts'
import { Text } from '../../text/text.tsx'
import { formatInstant } from '../../ui/time.ts'
import { AnswerEdit } from './answer-edit.tsx'
import { type EditDraft, editableOf, editOf, type ForkDraft, isForkable, readFork } from './edit.ts'
import { repeatTexts } from './texts.ts'

const texts = repeatTexts.fork

export interface ForkFormProps {
  readonly run: Run
  /** Newest first. */
  readonly entries: readonly LogEntry[]
  /** Loads older entries; null if there are none. */
  readonly onOlder: (() => void) | null
  readonly draft: ForkDraft
  readonly onDraft: (draft: ForkDraft) => void
  readonly onFork: (fork: Fork) => void
  /** The form is submitted by a button outside of it. */
  readonly id: string
}

/** Chooses the position of a fork, and its edits there. */
export function ForkForm(props: ForkFormProps) {
  const { run, draft, onDraft, onFork } = props
  const places = props.entries.filter(isForkable)
  const entry = places.find(({ position }) => position === draft.position)
  const ask = useAsk(run, entry)
  const checkpoints = useCheckpoints(run)
  const issues = useSignal<readonly Issue[]>([])
  const refusals = useSignal(0)
  useEffect(() => {
    if (refusals.value === 0) return
    const find = (selector: string) => document.querySelector<HTMLElement>(`dialog ${selector}`)
    const target = find('[aria-invalid="true"]') ?? find('.cards input')
    target?.focus()
  }, [refusals.value])
  if (entry === undefined) return <p class="faint">{texts.none}</p>
  const submit = () => {
    if (draft.isEdited && ask === undefined) return
    const read = readFork(draft, entry, ask ?? null)
    issues.value = read.issues
    if (read.value !== null) onFork(read.value)
    else refusals.value += 1
  }
  const choose = (place: { readonly position: number } | { readonly checkpoint: string }) => {
    issues.value = []
    onDraft({ ...draft, checkpoint: null, ...place, isEdited: false })
  }
  return (
    <form
      class="dialog-form"
      id={props.id}
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <p class="faint">{texts.help}</p>
      <PlaceField {...{ places, checkpoints, draft, onChoose: choose, onOlder: props.onOlder }} />
      {draft.checkpoint === null && editableOf(entry) !== null && ask !== undefined && (
        <Result entry={entry} ask={ask} draft={draft} onDraft={onDraft} issues={issues} />
      )}
      {draft.checkpoint === null && entry.consent_to !== undefined && (
        <p class="notice" dir="auto">
          <Text>{texts.consent(entry.consent_to)}</Text>
        </p>
      )}
    </form>
  )
}

/** The ask of an entry; null if it has none that can be read, undefined until that is known. */
function useAsk(run: Run, entry: LogEntry | undefined): Ask | null | undefined {
  const id = entry && editableOf(entry) === 'answer' ? `${run.id}/${entry.position}` : null
  const [loaded, setLoaded] = useState<{ readonly id: string; readonly ask: Ask | null } | null>(null)
  useEffect(() => {
    if (id === null) return
    let isCurrent = true
    // The answers that a fork shares with its original have no ask of their own.
    void getAsk(id)
      .catch((error) => {
        noteEnded(error)
        return null
      })
      .then((ask) => isCurrent && setLoaded({ id, ask }))
    return () => {
      isCurrent = false
    }
  }, [id])
  if (id === null) return null
  return loaded?.id === id ? loaded.ask : undefined
}

function useCheckpoints(run: Run): readonly Checkpoint[] {
  const [checkpoints, setCheckpoints] = useState<readonly Checkpoint[]>([])
  useEffect(() => {
    listCheckpoints(run.id).then(({ items }) => setCheckpoints(items), noteEnded)
  }, [run.id])
  return checkpoints
}

const checkpointMark = 'checkpoint '

function PlaceField(props: {
  readonly places: readonly LogEntry[]
  readonly checkpoints: readonly Checkpoint[]
  readonly draft: ForkDraft
  readonly onChoose: (place: { readonly position: number } | { readonly checkpoint: string }) => void
  readonly onOlder: (() => void) | null
}) {
  const { places, checkpoints, draft, onChoose } = props
  const select = useRef<HTMLSelectElement>(null)
  useEffect(() => select.current?.focus(), [])
  return (
    <div class="field">
      <label class="label" for="fork-place">
        {texts.place}
      </label>
      <select
        id="fork-place"
        ref={select}
        value={draft.checkpoint === null ? String(draft.position) : `${checkpointMark}${draft.checkpoint}`}
        onChange={({ currentTarget: { value } }) =>
          onChoose(
            value.startsWith(checkpointMark)
              ? { checkpoint: value.slice(checkpointMark.length) }
              : { position: Number(value) },
          )
        }
      >
        {checkpoints.length > 0 && (
          <optgroup label={texts.checkpoints}>
            {checkpoints.map(({ id, name, position, createdAt }) => (
              <option key={id} value={`${checkpointMark}${id}`}>
                {`${position} · ${plainMarks(name ?? texts.unnamed).slice(0, 80)} · ${formatInstant(createdAt)}`}
              </option>
            ))}
          </optgroup>
        )}
        <optgroup label={texts.log}>
          {places.map(({ position, name, type, status }) => (
            <option key={position} value={String(position)}>
              {`${position} · ${plainMarks(name).slice(0, 80)} · ${type.replace(/^hitl_|^ail_/, '')} · ${en.entryStatuses[status]}`}
            </option>
          ))}
        </optgroup>
      </select>
      {props.onOlder && (
        <button type="button" class="small" onClick={props.onOlder}>
          {texts.older}
        </button>
      )}
    </div>
  )
}

/** The same operation again, or another result. */
function Result(props: {
  readonly entry: LogEntry
  readonly ask: Ask | null
  readonly draft: ForkDraft
  readonly onDraft: (draft: ForkDraft) => void
  readonly issues: Signal<readonly Issue[]>
}) {
  const { entry, ask, draft, onDraft, issues } = props
  const kind = editableOf(entry) ?? 'result'
  const change = (edit: EditDraft) => onDraft({ ...draft, edit })
  return (
    <>
      <fieldset class="field group">
        <legend class="label">{texts.what}</legend>
        <div class="options">
          {([false, true] as const).map((isEdited) => (
            <label class="check" key={String(isEdited)}>
              <input
                type="radio"
                name="fork-what"
                checked={draft.isEdited === isEdited}
                onChange={() =>
                  onDraft({ ...draft, isEdited, edit: isEdited ? editOf(entry, ask) : draft.edit })
                }
              />
              {isEdited ? texts.other : texts.again}
            </label>
          ))}
        </div>
      </fieldset>
      {draft.isEdited && ask !== null && (
        <AnswerEdit ask={ask} draft={draft.edit} onDraft={change} issues={issues} />
      )}
      {draft.isEdited && ask === null && (
        <Field
          control={{ kind: 'json', description: texts.json }}
          draft={draft.edit.json}
          onChange={(json) => change({ ...draft.edit, json: typeof json === 'string' ? json : '' })}
          path="json"
          label={texts[kind]}
          isRequired
          issues={issuesAt(issues.value, 'json')}
        />
      )}
      {draft.isEdited && <p class="faint">{texts.unchecked}</p>}
    </>
  )
}
