import type { LogEntry } from '@pawl/server/internal'
import { en } from '../en.ts'
import { Text } from '../text/text.tsx'
import { formatSpan } from '../ui/time.ts'
import { isWork, type Label, layOut, mostLanes } from './spans.ts'

const mostEntries = 60
const laneHeight = 26

const classOf: Readonly<Record<Label, string>> = {
  inside: '',
  after: 'labelled',
  before: 'labelled at-end',
  none: 'labelled',
}

/** Timeline of the newest entries. Hidden from screen readers, since the log below says the same in text. */
export function Timeline({ entries, now }: { readonly entries: readonly LogEntry[]; readonly now: number }) {
  if (entries.length < 2) return null
  const { spans, count } = layOut(entries.slice(0, mostEntries), now)
  return (
    <section aria-hidden="true">
      <h2>{en.timeline}</h2>
      <div class="timeline" style={{ height: `${count * laneHeight + 24}px` }}>
        {spans.map((span) =>
          span.kind === 'idle' ? (
            <div
              key={`idle ${span.from}`}
              class="idle"
              style={{ left: `${span.from}%`, width: `${span.width}%` }}
              title={en.idle(formatSpan(span.ms))}
            >
              <span>{formatSpan(span.ms)}</span>
            </div>
          ) : span.lane < mostLanes ? (
            <div
              key={span.entry.position}
              class={`span ${isWork(span.entry.type) ? 'work' : 'wait'} ${span.entry.status} ${classOf[span.label]}`}
              style={{
                left: `${span.from}%`,
                width: `${span.width}%`,
                top: `${span.lane * laneHeight + 4}px`,
              }}
              title={`${span.entry.name} · ${formatSpan(span.entry.duration_ms)}`}
            >
              {span.label !== 'none' && <Text>{span.entry.name}</Text>}
            </div>
          ) : null,
        )}
      </div>
    </section>
  )
}
