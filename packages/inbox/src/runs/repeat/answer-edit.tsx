import type { Ask, Issue } from '@pawl/server/internal'
import type { Signal } from '@preact/signals'
import { ChoiceCards, Comment, InputFields } from '../../ask/answer-form.tsx'
import { Artifact } from '../../ask/artifact.tsx'
import { Params } from '../../ask/params.tsx'
import { en } from '../../en.ts'
import { issuesAt } from '../../form/field-props.ts'
import { IssueList } from '../../form/issue-list.tsx'
import { marked } from '../../text/text.tsx'
import type { EditDraft } from './edit.ts'

/** The form of an ask with the recorded answer. Only the fork gets the edit. */
export function AnswerEdit(props: {
  readonly ask: Ask
  readonly draft: EditDraft
  readonly onDraft: (draft: EditDraft) => void
  readonly issues: Signal<readonly Issue[]>
}) {
  const { ask, draft, onDraft, issues } = props
  const onAnswer = (answer: EditDraft['answer']) => onDraft({ ...draft, answer })
  const part = { ask, draft: draft.answer, onDraft: onAnswer }
  const shown = { ask, draft: draft.answer, onChange: onAnswer, issues, isOpen: true }
  const unchosen = issuesAt(issues.value, 'choice')
  return (
    <>
      <p class="bulk-filter" dir="auto">
        {marked(ask.message)}
      </p>
      {ask.kind === 'input' && <InputFields {...part} issues={issues} />}
      {ask.kind === 'approve' && (
        <ApprovalCards approved={draft.approved} onApproved={(approved) => onDraft({ ...draft, approved })} />
      )}
      {ask.kind !== 'input' && ask.kind !== 'approve' && <ChoiceCards {...part} />}
      <IssueList id="fork-choice-issues" issues={unchosen} path="choice" />
      {draft.approved === true && ask.params !== undefined && <Params {...shown} />}
      {ask.artifact !== undefined && <Artifact {...shown} />}
      <Comment {...part} issues={issues} />
    </>
  )
}

function ApprovalCards(props: {
  readonly approved: boolean | null
  readonly onApproved: (approved: boolean) => void
}) {
  return (
    <fieldset class="cards">
      <legend class="hidden">{en.yourAnswer}</legend>
      {([true, false] as const).map((approved) => (
        <label key={String(approved)} class="card">
          <input
            type="radio"
            name="approved"
            checked={props.approved === approved}
            onChange={() => props.onApproved(approved)}
          />
          <span class="choice-label">{approved ? en.approve : en.reject}</span>
        </label>
      ))}
    </fieldset>
  )
}
