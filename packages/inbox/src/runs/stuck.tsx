import type { Failure, Run } from '@pawl/server/internal'
import { en } from '../en.ts'
import { marked, Text } from '../text/text.tsx'
import { LongText } from '../text/value.tsx'
import { formatAge, formatInstant, sinceNow } from '../ui/time.ts'
import { shortFailure } from './short-failure.ts'

/** Shows why a run is stuck or failed: the log beside the code, and the remedy. */
export function Stuck({ run }: { readonly run: Run }) {
  const { failure, status } = run
  if (!failure) return null
  return (
    <section class={`error-box ${status}`}>
      <h2>{titleOf(run)}</h2>
      <Sides run={run} />
      {run.stuck?.recorded === undefined && <Message failure={failure} isShort={status === 'stuck'} />}
      <Tried run={run} />
      {failure.stack && (
        <details>
          <summary>{en.stack}</summary>
          {status === 'stuck' && <Message failure={failure} isShort={false} />}
          <LongText text={failure.stack} isCode />
        </details>
      )}
      <Steps run={run} />
    </section>
  )
}

/** `isShort`: without the advice, which the box gives in its own words. */
function Message({ failure, isShort }: { readonly failure: Failure; readonly isShort: boolean }) {
  return (
    <p dir="auto">
      {failure.code && <code>{failure.code}</code>}{' '}
      {marked(isShort ? shortFailure(failure) : failure.message)}
    </p>
  )
}

function titleOf({ status, failure }: Run): string {
  if (status === 'quarantined') return en.quarantinedTitle
  if (status === 'failed') return en.failedTitle
  if (status === 'cancelled') return en.cancelledTitle
  if (failure?.code === 'nondeterminism') return en.stuckTitle
  return failure?.code === 'foreign-await' ? en.stuckAwait : en.stuckBug
}

function Sides({ run: { stuck } }: { readonly run: Run }) {
  if (stuck?.recorded === undefined && stuck?.asked === undefined) return null
  const { position, recorded, asked, at } = stuck
  return (
    <div class="sides">
      <div class="side">
        <h3>{position === undefined ? en.inLog : en.inLogAt(position)}</h3>
        <p class="code" dir="auto">
          {marked(recorded ?? en.nothingRecorded)}
        </p>
      </div>
      <div class="side">
        <h3>{en.codeAsks}</h3>
        <p class="code" dir="auto">
          {marked(asked ?? en.nothingAsked)}
        </p>
        {at !== undefined && (
          <p class="code faint">
            <Text>{at}</Text>
          </p>
        )}
      </div>
    </div>
  )
}

function Tried({ run: { stuck } }: { readonly run: Run }) {
  if (stuck === undefined) return null
  const { at, triedAt, asked } = stuck
  return (
    <p class="faint">
      {at !== undefined && asked === undefined && (
        <>
          {en.at} <code>{marked(at)}</code>
          {'. '}
        </>
      )}
      {triedAt !== undefined && (
        <span title={formatInstant(triedAt)}>{en.triedAt(formatAge(sinceNow(triedAt)))} </span>
      )}
      {en.nothingWritten}
    </p>
  )
}

/** The steps of the operator's guide. */
function Steps({ run: { status, failure, version } }: { readonly run: Run }) {
  if (status !== 'stuck' && status !== 'quarantined') return null
  const steps =
    status === 'quarantined'
      ? en.quarantinedSteps
      : failure?.code === 'nondeterminism'
        ? en.mismatchSteps(version)
        : en.bugSteps
  return (
    <>
      <h3>{en.whatNow}</h3>
      <ol class="steps">
        {steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
    </>
  )
}
