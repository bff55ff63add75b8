import { isNested } from '@pawl/core/json-schema'
import type { Ask } from '@pawl/server/internal'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { en } from '../en.ts'
import type { Draft } from '../form/draft.ts'
import { issuesAt } from '../form/field-props.ts'
import { Field, Parts } from '../form/fields.tsx'
import { IssueList } from '../form/issue-list.tsx'
import { marked, Text } from '../text/text.tsx'
import { type Action, actionsOf } from './actions.ts'
import { Confirmation } from './confirmation.tsx'
import {
  type Act,
  type AskDraft,
  commentNote,
  firstValue,
  hasEdits,
  readAnswer,
  valueControl,
} from './draft.ts'
import { ChoiceText } from './facts.tsx'
import { dropDraft } from './kept-draft.ts'
import type { Submission } from './submission.ts'

interface Props {
  readonly ask: Ask
  readonly draft: AskDraft
  readonly onDraft: (draft: AskDraft) => void
  readonly submission: Submission
  readonly onChange: (ask: Ask) => void
}

/** The fields, the comment and the buttons of an open ask. Only a button, focused and pressed, settles it. */
export function AnswerForm({ ask, draft, onDraft, submission, onChange }: Props) {
  const form = useRef<HTMLFormElement>(null)
  const [asking, setAsking] = useState<Action | null>(null)
  const isEdited = hasEdits(ask, draft)
  const actions = actionsOf(ask, isEdited)
  useFocusOnIssue(submission)

  const submit = async (act: Act) => {
    const { value, issues } = readAnswer(ask, draft, act)
    if (value === null || issues.length > 0) return submission.refuse(issues)
    const settled = await submission.send(ask, value)
    if (settled === null) return
    if (submission.hasWon.value) dropDraft(ask.id)
    onChange(settled)
  }
  const begin = (action: Action) => {
    if (action.confirm === 'none') void submit(action.act)
    else setAsking(action)
  }
  // The confirmation stays until the answer is settled: the focus is on it, and would be lost with it.
  const confirm = async ({ act }: Action) => {
    await submit(act)
    setAsking(null)
  }
  const returnTo = useRef<string | null>(null)
  const cancel = (action: Action) => {
    returnTo.current = action.label
    setAsking(null)
  }
  useLayoutEffect(() => {
    if (asking !== null || returnTo.current === null) return
    const buttons = [...(form.current?.querySelectorAll<HTMLElement>('.bar button') ?? [])]
    const opener = buttons.find(({ textContent }) => textContent === returnTo.current) ?? buttons[0]
    opener?.focus()
    returnTo.current = null
  }, [asking])
  const isPicked = ask.kind === 'select' || (ask.kind !== 'approve' && needsCards(ask))
  const picked = actions.find(({ act }) => act.act === 'choose' && act.choice === draft.choice)
  return (
    <form ref={form} class="answer" noValidate onSubmit={(event) => event.preventDefault()}>
      {ask.kind === 'input' && <InputFields {...{ ask, draft, onDraft, issues: submission.issues }} />}
      {isPicked && <ChoiceCards {...{ ask, draft, onDraft }} />}
      <Comment {...{ ask, draft, onDraft, issues: submission.issues }} />
      {ask.kind === 'approve' && <Effects ask={ask} />}
      <Failure submission={submission} />
      <div class="bar">
        {asking ? (
          <Confirmation
            {...{ ask, draft }}
            action={asking}
            isSending={submission.isSending.value}
            onConfirm={() => void confirm(asking)}
            onCancel={() => cancel(asking)}
          />
        ) : isPicked ? (
          <ActionButton
            action={{ ...(picked ?? nothingPicked), label: en.choose, shortcut: 'a' }}
            submission={submission}
            onPress={() =>
              picked ? begin(picked) : submission.refuse([{ path: 'choice', message: en.issueMissing }])
            }
          />
        ) : (
          actions.map((action) => (
            <ActionButton
              key={action.label}
              action={action}
              submission={submission}
              onPress={() => begin(action)}
            />
          ))
        )}
      </div>
    </form>
  )
}

/** Shows the effects of a yes and of a no that the author describes. */
function Effects({ ask }: { readonly ask: Ask }) {
  const told = ask.decisions.filter(({ effect }) => effect !== undefined)
  if (told.length === 0) return null
  return (
    <dl class="pairs effects">
      {told.map(({ value, label, effect = '' }) => (
        <div key={value}>
          <dt>{label}</dt>
          <dd dir="auto">{marked(effect)}</dd>
        </div>
      ))}
    </dl>
  )
}

const nothingPicked: Action = { act: { act: 'send' }, label: en.choose, style: 'primary', confirm: 'none' }

/** Choices with consequences, or more than fit beside each other, are read before one is pressed. */
function needsCards(ask: Ask): boolean {
  return ask.choices.length > 3 || ask.choices.some(({ effect }) => effect !== undefined)
}

/** Moves the focus to the first field that was refused, once for each refusal. */
function useFocusOnIssue(submission: Submission): void {
  const count = submission.refusals.value
  useEffect(() => {
    if (count === 0) return
    const invalid = document.querySelector<HTMLElement>('.ask-page [aria-invalid="true"]')
    const target = invalid ?? document.querySelector<HTMLElement>('.ask-page .failure')
    target?.focus()
  }, [count])
}

function ActionButton(props: {
  readonly action: Action
  readonly submission: Submission
  readonly onPress: () => void
}) {
  const { action, submission, onPress } = props
  const isSending = submission.isSending.value
  return (
    <button
      type="button"
      class={`action ${action.style}`}
      data-shortcut={action.shortcut}
      aria-disabled={isSending ? 'true' : undefined}
      onClick={isSending ? undefined : onPress}
    >
      {isSending && action.style === 'primary' ? en.sending : <Text>{action.label}</Text>}
    </button>
  )
}

/** A part of the form, which other forms for the same answer use as well. */
type PartProps = Pick<Props, 'ask' | 'draft' | 'onDraft'>

export function InputFields(props: PartProps & { readonly issues: Submission['issues'] }) {
  const { ask, draft, onDraft, issues } = props
  const control = valueControl(ask)
  const field = {
    control,
    draft: draft.value ?? firstValue(ask),
    onChange: (value: Draft) => onDraft({ ...draft, value }),
    path: 'value',
    label: en.value,
    isRequired: true,
    issues: issuesAt(issues.value, 'value'),
  }
  return (
    <section class="fields" aria-label={en.yourAnswer}>
      {isNested(control) ? <Parts {...field} /> : <Field {...field} />}
    </section>
  )
}

export function ChoiceCards({ ask, draft, onDraft }: PartProps) {
  return (
    <fieldset class="cards">
      <legend class="hidden">{en.yourAnswer}</legend>
      {ask.choices.map((choice) => (
        <label key={choice.value} class={choice.style === 'danger' ? 'card danger' : 'card'}>
          <input
            type="radio"
            name="choice"
            checked={draft.choice === choice.value}
            onChange={() => onDraft({ ...draft, choice: choice.value })}
          />
          <span>
            <ChoiceText choice={choice} />
          </span>
        </label>
      ))}
    </fieldset>
  )
}

export function Comment(props: PartProps & { readonly issues: Submission['issues'] }) {
  const { ask, draft, onDraft } = props
  const issues = issuesAt(props.issues.value, 'comment')
  return (
    <div class="field comment">
      <label class="label" for="comment">
        {en.comment} <span class="faint">{commentNote(ask)}</span>
      </label>
      <textarea
        id="comment"
        rows={2}
        dir="auto"
        value={draft.comment}
        aria-invalid={issues.length > 0}
        aria-describedby={issues.length > 0 ? 'comment-issues' : undefined}
        onInput={(event) => onDraft({ ...draft, comment: event.currentTarget.value })}
      />
      <IssueList id="comment-issues" issues={issues} path="comment" />
    </div>
  )
}

/** Shows the error of the server, and the issues of no field on the page. */
function Failure({ submission }: Pick<Props, 'submission'>) {
  const failure = submission.failure.value
  if (failure === null) return null
  const rest = submission.issues.value.filter(
    ({ path }) => !/^(params|value|artifact|comment)([.[]|$)/.test(path),
  )
  return (
    <div class="failure" tabIndex={-1}>
      <p dir="auto">
        <Text>{failure}</Text>
      </p>
      {rest.length > 0 && (
        <ul>
          {rest.map((issue) => (
            <li key={`${issue.path} ${issue.message}`}>
              <Text>{`${issue.path} ${issue.message}`}</Text>
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}
