import type { Ask, GivenAnswer, Json } from '@pawl/server/internal'
import { useEffect, useState } from 'preact/hooks'
import { listAsks } from '../api/calls.ts'
import { en } from '../en.ts'
import { askHref, runHref } from '../router.ts'
import { currentUser, noteEnded } from '../session.ts'
import { plainOf, summaryOf } from '../text/plain.ts'
import { marked, Text } from '../text/text.tsx'
import { CopyButton } from '../ui/copy.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatInstant } from '../ui/time.ts'
import { nextOpen } from './asks.ts'
import { type AskDraft, hasDraft, isSame, paramsOf, readAnswer } from './draft.ts'
import { askInListHref, listHref } from './filter.ts'
import { isRejected, outcomeOf } from './outcome.ts'
import type { Submission } from './submission.ts'

interface Props {
  readonly ask: Ask
  readonly draft: AskDraft
  readonly submission: Submission
  /** Whether the focus was in the form that is gone. */
  readonly takesFocus: boolean
  readonly onDrop: () => void
}

/** Shows how an ask ended, and the draft of the person. */
export function Closed({ ask, draft, submission, takesFocus, onDrop }: Props) {
  const next = nextOpen(ask.id)
  const isOwn = submission.hasWon.value
  return (
    <section class={`closed ${isRejected(ask) ? 'rejected' : ask.status}`}>
      <p class="closed-title" tabIndex={-1} ref={takesFocus ? focusOnce : null} data-quiet={!isOwn}>
        <Icon name={ask.status === 'answered' && !isRejected(ask) ? 'check' : 'cross'} />
        <Outcome ask={ask} />
      </p>
      {ask.answer && <AnswerLines ask={ask} answer={ask.answer} />}
      {ask.status === 'withdrawn' && <AskedAgain ask={ask} />}
      {!isOwn && <KeptDraft ask={ask} draft={draft} onDrop={onDrop} />}
      <p class="closed-links">
        {next !== null && (
          <a class="button primary" href={askInListHref(next)}>
            {en.next}
            <Icon name="next" />
          </a>
        )}
        {next === null && (
          <a class="button" href={listHref()}>
            {en.back}
          </a>
        )}
        <a class="button" href={runHref(ask.run)}>
          {en.openRun}
        </a>
      </p>
    </section>
  )
}

/** Says that the run asks again, such as after a retry: that is another question, with an id of its own. */
function AskedAgain({ ask }: { readonly ask: Ask }) {
  const [again, setAgain] = useState<string | null>(null)
  useEffect(() => {
    let isCurrent = true
    listAsks({ run: ask.run })
      .then(({ items }) => {
        const found = items.find(({ id, position }) => position === ask.position && id !== ask.id)
        if (isCurrent) setAgain(found?.id ?? null)
      })
      .catch(noteEnded)
    return () => {
      isCurrent = false
    }
  }, [ask])
  return again === null ? null : (
    <p class="asked-again" role="status">
      {en.askedAgain} <a href={askHref(again)}>{en.openAsk}</a>
    </p>
  )
}

/** The focus would be lost with the form. If another person was faster, the keys that are still being typed do nothing here. */
function focusOnce(element: HTMLElement | null): void {
  if (element !== null && !element.dataset['focused']) {
    element.dataset['focused'] = 'yes'
    element.focus({ preventScroll: true })
  }
}

function Outcome({ ask }: { readonly ask: Ask }) {
  if (ask.answer === undefined) return <>{ask.status === 'withdrawn' ? en.withdrawn : en.timedOut}</>
  const { by, at, madeBy, actedBy } = ask.answer
  return (
    <span title={formatInstant(at)}>
      {by === currentUser().actor ? en.youWereFaster : <Text>{en.answeredBy(by)}</Text>}
      {actedBy !== undefined && (
        <>
          , <Text>{en.givenBy(actedBy)}</Text>
        </>
      )}
      {madeBy !== undefined && (
        <>
          , <Text>{en.linkMadeBy(madeBy)}</Text>
        </>
      )}
      <span class="faint"> {formatInstant(at)}</span>
    </span>
  )
}

function AnswerLines({ ask, answer }: { readonly ask: Ask; readonly answer: GivenAnswer }) {
  return (
    <dl class="pairs">
      {resultOf(ask, answer).map(([name, value, before]) => (
        <div key={name}>
          <dt>
            <Text>{name}</Text>
          </dt>
          <dd>
            {before !== undefined && (
              <>
                <del>
                  <Text>{shortOf(before)}</Text>
                </del>
                <Icon name="arrow" />
              </>
            )}
            <Text>{shortOf(value)}</Text>
          </dd>
        </div>
      ))}
    </dl>
  )
}

type Line = readonly [name: string, value: Json, before?: Json]

function resultOf(ask: Ask, answer: GivenAnswer): readonly Line[] {
  const lines: Line[] = []
  if (answer.approved !== undefined || answer.choice !== undefined) lines.push([en.result, outcomeOf(ask)])
  if (answer.value !== undefined) lines.push([en.result, answer.value])
  if (typeof answer.params === 'object' && answer.params !== null)
    for (const [name, value] of Object.entries(answer.params)) {
      const before = paramsOf(ask)[name]
      if (!isSame(before, value)) lines.push([name, value as Json, before ?? null])
    }
  if (answer.artifact !== undefined && !isSame(answer.artifact, ask.artifact))
    lines.push([en.editArtifact, answer.artifact])
  if (answer.comment) lines.push([en.comment, answer.comment])
  return lines
}

function shortOf(value: Json): string {
  const text = summaryOf(plainOf(value))
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}

/** The draft of the person who was slower. */
function KeptDraft({ ask, draft, onDrop }: Pick<Props, 'ask' | 'draft' | 'onDrop'>) {
  const [isDropped, setDropped] = useState(false)
  if (isDropped || !hasDraft(ask, draft)) return null
  const text = draftText(ask, draft)
  return (
    <div class="kept">
      <h2>{en.yourDraft}</h2>
      <pre class="block" dir="auto">
        {marked(text)}
      </pre>
      <CopyButton text={text} label={en.copy} />{' '}
      <button
        type="button"
        class="link"
        onClick={() => {
          onDrop()
          setDropped(true)
        }}
      >
        {en.remove}
      </button>
    </div>
  )
}

function draftText(ask: Ask, draft: AskDraft): string {
  const act =
    ask.kind === 'approve'
      ? ({ act: 'approve' } as const)
      : ask.kind === 'input'
        ? ({ act: 'send' } as const)
        : null
  const answer = act
    ? readAnswer(ask, draft, act).value
    : readAnswer(ask, draft, { act: 'choose', choice: draft.choice ?? '' }).value
  if (answer === null) return draft.comment
  const { comment, ...rest } = answer as { readonly comment?: string; readonly [part: string]: unknown }
  const { approved: _approved, choice, ...values } = rest
  const parts: Record<string, unknown> = { ...values, ...(choice ? { choice } : {}) }
  const lines = Object.entries(parts).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null && name === 'params'
      ? Object.entries(value).map(([key, item]) => `${key}: ${summaryOf(plainOf(item as Json))}`)
      : [typeof value === 'string' ? value : `${JSON.stringify(value, null, 2)}`],
  )
  return [...lines, ...(comment ? [comment] : [])].join('\n')
}
