import type { FailedAttempt, Json, LogEntry } from '@pawl/server/internal'
import { useState } from 'preact/hooks'
import { isObject } from '../api/json.ts'
import { en } from '../en.ts'
import type { StillHandlers } from '../live/still.ts'
import { plainOf, summaryOf } from '../text/plain.ts'
import { Text } from '../text/text.tsx'
import { LongText } from '../text/value.tsx'
import { Icon, type IconName } from '../ui/icons.tsx'
import { formatAge, formatInstant, formatSpan, sinceNow } from '../ui/time.ts'
import { isForkable } from './repeat/edit.ts'
import { repeatTexts } from './repeat/texts.ts'
import { runTexts } from './texts.ts'

/** The execution log, newest first. Older pages are loaded on demand. */
export function Log(props: {
  readonly entries: readonly LogEntry[]
  /** Entries that are not shown yet. */
  readonly newCount: number
  readonly onNew: () => void
  readonly onOlder: (() => void) | null
  /** Forks the run at a position; null if the user may not. */
  readonly onFork: ((position: number) => void) | null
  readonly handlers: StillHandlers
}) {
  const [isFailedOnly, setFailedOnly] = useState(false)
  const { entries, newCount, onOlder } = props
  const visible = isFailedOnly ? entries.filter(({ status }) => status === 'failed') : entries
  return (
    <section {...props.handlers}>
      <div class="section-head">
        <h2>{en.log}</h2>
        {newCount > 0 && (
          <button type="button" class="fresh-entries" onClick={props.onNew}>
            <Icon name="up" />
            {en.newItems(newCount)}
          </button>
        )}
        <button
          type="button"
          class="toggle"
          aria-pressed={isFailedOnly ? 'true' : 'false'}
          onClick={() => setFailedOnly(!isFailedOnly)}
        >
          {en.failedOnly}
        </button>
      </div>
      {visible.length === 0 && <p class="faint">{isFailedOnly ? en.noEntriesFound : en.noEntries}</p>}
      <ol class="log" reversed>
        {visible.map((entry) => (
          <li key={entry.position}>
            <Entry entry={entry} onFork={props.onFork} />
          </li>
        ))}
      </ol>
      {onOlder && (
        <button type="button" onClick={onOlder}>
          {en.older}
        </button>
      )}
    </section>
  )
}

function Entry(props: { readonly entry: LogEntry; readonly onFork: ((position: number) => void) | null }) {
  const { entry, onFork } = props
  const plain = plainOf(entry.result)
  const summary = resultOf(entry, plain)
  return (
    <details class={`entry ${entry.status}${entry.next_attempt_at === undefined ? '' : ' retrying'}`}>
      <summary>
        <span class="entry-position number faint">{entry.position}</span>
        <Icon name={iconOf(entry)} />
        <span class="entry-name clip">
          <Text>{entry.name}</Text>
        </span>
        <span class="entry-type faint clip">
          <Text>{entry.type.replace(/^hitl_|^ail_/, '')}</Text>
        </span>
        <span class="entry-status">{en.entryStatuses[entry.status]}</span>
        <span class="entry-result clip faint">
          <Text>{summary.slice(0, 200)}</Text>
        </span>
        <span class="entry-time number faint">
          {entry.status === 'open' ? '' : formatSpan(entry.duration_ms)}
        </span>
      </summary>
      <div class="entry-more">
        <p class="faint">{formatInstant(entry.timestamp)}</p>
        {entry.attempts !== undefined && <Attempts attempts={entry.attempts} />}
        {plain !== null && <LongText text={JSON.stringify(plain, null, 2)} isCode />}
        {onFork !== null && isForkable(entry) && (
          <button type="button" class="small" onClick={() => onFork(entry.position)}>
            {repeatTexts.fork.here}
            <span class="hidden"> {repeatTexts.fork.at(entry.position)}</span>
          </button>
        )}
      </div>
    </details>
  )
}

function Attempts({ attempts }: { readonly attempts: readonly FailedAttempt[] }) {
  return (
    <ul class="attempts" aria-label={runTexts.attempts}>
      {attempts.toReversed().map(({ attempt, timestamp, duration_ms, error }) => (
        <li key={attempt}>
          {runTexts.attempt(attempt)} ·{' '}
          <span title={formatInstant(timestamp)}>{formatSpan(duration_ms)}</span> ·{' '}
          <Text>{error.message}</Text>
        </li>
      ))}
    </ul>
  )
}

function iconOf({ status, type, next_attempt_at: next }: LogEntry): IconName {
  if (status === 'failed' || next !== undefined) return 'alert'
  if (status === 'withdrawn') return 'cross'
  if (status === 'done') return 'check'
  return type.startsWith('hitl_') ? 'approve' : 'runs'
}

/** Names the person who edited an answer in a fork; undefined if it was given. */
function editorOf(answer: Json): string | undefined {
  if (!isObject(answer) || answer['via'] !== 'fork') return undefined
  return typeof answer['by'] === 'string' ? answer['by'] : undefined
}

function resultOf({ status, type, attempts, next_attempt_at: next }: LogEntry, plain: Json): string {
  const last = attempts?.at(-1)
  if (last !== undefined && next !== undefined) {
    const leftMs = -sinceNow(next)
    const due = leftMs <= 0 ? runTexts.nextAttemptDue : runTexts.nextAttempt(formatAge(leftMs))
    return `${runTexts.attempt(last.attempt)} · ${due} · ${last.error.message}`
  }
  if (status === 'failed' && isObject(plain)) {
    const error = plain['error']
    const message = isObject(error) ? error['message'] : undefined
    if (typeof message === 'string') return message
  }
  if (plain === null || (isObject(plain) && Object.keys(plain).length === 0)) return ''
  const summary = summaryOf(plain)
  const editor = type.startsWith('hitl_') ? editorOf(plain) : undefined
  return editor === undefined ? summary : `${runTexts.edited(editor)} · ${summary}`
}
