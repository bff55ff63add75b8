import type { Run } from '../api/types.ts'
import { en } from '../en.ts'
import { marked } from '../text/text.tsx'
import { LongText } from '../text/value.tsx'

/** Why a run does not continue, or how it failed. */
export function Stuck({ run, onRetry }: { readonly run: Run; readonly onRetry: (() => void) | null }) {
  const { failure, status } = run
  if (!failure) return null
  const isMismatch = failure.code === 'nondeterminism'
  const title =
    status === 'stuck'
      ? isMismatch
        ? en.stuckTitle
        : en.stuckBug
      : status === 'quarantined'
        ? en.quarantinedTitle
        : en.failedTitle
  const isRetried = onRetry !== null && (status === 'stuck' || status === 'quarantined')
  return (
    <section class={`error-box ${status}`}>
      <h2>{title}</h2>
      <p dir="auto">
        {failure.code && <code>{failure.code}</code>} {marked(failure.message)}
      </p>
      {isMismatch && status === 'stuck' && <p class="faint">{en.stuckHelp}</p>}
      {failure.stack && (
        <details>
          <summary>{en.stack}</summary>
          <LongText text={failure.stack} isCode />
        </details>
      )}
      {isRetried && (
        <p>
          <button type="button" class="action primary" onClick={onRetry}>
            {en.retryRun}
          </button>
        </p>
      )}
    </section>
  )
}
