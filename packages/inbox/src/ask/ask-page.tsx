import type { Ask } from '@pawl/server/internal'
import { useEffect, useRef, useState } from 'preact/hooks'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'
import { currentGrant, isForUser } from '../session.ts'
import { nameOf } from '../text/plain.ts'
import { marked, Text } from '../text/text.tsx'
import { AnswerForm } from './answer-form.tsx'
import { Artifact } from './artifact.tsx'
import { Closed } from './closed.tsx'
import { type AskDraft, hasDraft } from './draft.ts'
import { AskHead, Context, ErrorBox, Meta, RiskBox } from './facts.tsx'
import { dropDraft, keepDraft, loadDraft } from './kept-draft.ts'
import { Params } from './params.tsx'
import { Submission } from './submission.ts'

/** An ask, open or closed. What a person prepared belongs to it alone. */
export function AskPage({ ask, onChange }: { readonly ask: Ask; readonly onChange: (ask: Ask) => void }) {
  const [draft, setDraft] = useState<AskDraft>(() => loadDraft(ask.id))
  const [submission] = useState(() => new Submission(ask.id))
  const isOpen = ask.status === 'open'
  useEffect(() => {
    document.title = `${ask.message} · ${en.product}`
  }, [ask.message])
  const change = (next: AskDraft) => {
    setDraft(next)
    keepDraft(ask.id, next)
  }
  const { answers, answersAll } = currentGrant()
  const mayAnswer = answers && (answersAll || isForUser(ask))
  // An ask that closes under a person's eyes says so in the place of its form: nothing above it moves.
  const wasOpen = useRef(isOpen)
  const hadFocus = useRef(false)
  if (wasOpen.current && !isOpen)
    hadFocus.current ||= document.activeElement?.closest('.answer, .params, .artifact') !== null
  useEffect(() => {
    if (wasOpen.current && !isOpen && !submission.speaks) announce(en.closedMeanwhile(hasDraft(ask, draft)))
  }, [isOpen])
  const parts = {
    ...{ ask, draft, issues: submission.issues },
    onChange: change,
    isOpen: wasOpen.current && mayAnswer,
  }
  const closed = !isOpen && (
    <Closed
      ask={ask}
      draft={draft}
      submission={submission}
      takesFocus={hadFocus.current}
      onDrop={() => dropDraft(ask.id)}
    />
  )
  return (
    <article>
      <AskHead ask={ask} />
      <h1 dir="auto" tabIndex={-1} id="title">
        {marked(ask.message)}
      </h1>
      <Meta ask={ask} />
      {!wasOpen.current && closed}
      <RiskBox ask={ask} />
      <ErrorBox ask={ask} />
      <div class="editable" inert={wasOpen.current && !isOpen}>
        {ask.params !== undefined && <Params {...parts} />}
        {ask.artifact !== undefined && <Artifact {...parts} />}
      </div>
      <Context ask={ask} />
      {wasOpen.current && closed}
      {isOpen && mayAnswer && (
        <AnswerForm ask={ask} draft={draft} onDraft={change} submission={submission} onChange={onChange} />
      )}
      {isOpen && !mayAnswer && (
        <p class="notice">
          <Text>{answers ? en.addressedToOthers(ask.to.map(nameOf).join(', ')) : en.mayNotAnswer}</Text>
        </p>
      )}
    </article>
  )
}
