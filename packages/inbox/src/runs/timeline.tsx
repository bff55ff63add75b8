import type { LogEntry } from '@pawl/server/internal'
import { useState } from 'preact/hooks'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import { formatInstant, formatSpan, formatTime } from '../ui/time.ts'
import { type Bar, isWork, layOut } from './spans.ts'
import { runTexts } from './texts.ts'

/** Rows that are drawn at first, and at each press. */
const pageSize = 40

/**
 * A row for each entry, along an axis that they share: when it began and how long it took. The log below says the same in text, so it
 * is hidden from screen readers.
 */
export function Timeline({ entries, now }: { readonly entries: readonly LogEntry[]; readonly now: number }) {
  const [count, setCount] = useState(pageSize)
  if (entries.length < 2) return null
  // The newest, since they say where the run is.
  const drawn = entries.slice(0, count)
  const { bars, idles, ticks } = layOut(drawn, now)
  const rest = entries.length - drawn.length
  return (
    <section aria-hidden="true">
      <div class="section-head">
        <h2>{en.timeline}</h2>
        {rest > 0 && (
          <button type="button" class="small" tabIndex={-1} onClick={() => setCount(count + pageSize)}>
            {runTexts.earlier(rest)}
          </button>
        )}
      </div>
      <div class="waterfall">
        <div class="axis">
          {ticks.map(({ at, x }) => (
            <span
              key={at}
              class={x > 90 ? 'tick at-end' : 'tick'}
              style={{ left: `${x}%` }}
              title={formatInstant(new Date(at).toISOString())}
            >
              {formatTime(at)}
            </span>
          ))}
        </div>
        <div class="breaks">
          {idles.map(({ from, width, ms }) => (
            <div
              key={from}
              class="idle"
              style={{ left: `${from}%`, width: `${width}%` }}
              title={en.idle(formatSpan(ms))}
            >
              <span>{formatSpan(ms)}</span>
            </div>
          ))}
        </div>
        {bars.map((bar) => (
          <Row key={bar.entry.position} bar={bar} />
        ))}
      </div>
    </section>
  )
}

function Row({ bar: { entry, from, width } }: { readonly bar: Bar }) {
  const { name, type, status, duration_ms: ms, next_attempt_at: next } = entry
  const kind = isWork(type) ? 'work' : 'wait'
  return (
    <div class="operation">
      <span class="operation-name clip">
        <Text>{name}</Text>
      </span>
      <span class="track">
        <span
          class={`span ${kind} ${status}${next === undefined ? '' : ' retrying'}`}
          style={{ left: `${from}%`, width: `${width}%` }}
          title={`${name} · ${formatSpan(ms)}`}
        />
      </span>
    </div>
  )
}
