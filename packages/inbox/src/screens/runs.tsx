import type { Run, RunStatus } from '@pawl/server/internal'
import { useEffect, useState } from 'preact/hooks'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { NotLoaded } from '../load/not-loaded.tsx'
import { go, runHref } from '../router.ts'
import { BulkActions } from '../runs/bulk-actions.tsx'
import { type RunFilter, runFilter, runsListHref } from '../runs/filter.ts'
import { ProgressBar } from '../runs/progress.tsx'
import {
  hasMoreRuns,
  loadMoreRuns,
  newRunCount,
  refreshRuns,
  runs,
  runsFailure,
  showNewRuns,
} from '../runs/run-list.ts'
import { shortFailure } from '../runs/short-failure.ts'
import { Text } from '../text/text.tsx'
import { StatusBadge } from '../ui/badges.tsx'
import { Empty } from '../ui/empty.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, formatInstant, formatSpan, serverTime, sinceNow } from '../ui/time.ts'

/** In the order of the tabs; a missing status is a type error. */
const statuses: { readonly [S in RunStatus]: true } = {
  stuck: true,
  failed: true,
  waiting: true,
  running: true,
  completed: true,
  quarantined: true,
  cancelled: true,
}
const tabs = ['', ...(Object.keys(statuses) as RunStatus[])] as const

export function RunsScreen() {
  const { value } = runFilter
  // The feed has no event for a started run, so the list is also polled.
  const reload = useLive(refreshRuns, [value], { hears: () => true, liveMs: () => 5_000 })
  useEffect(() => {
    document.title = `${en.runs} · ${en.product}`
  }, [])
  const isFiltered = value.status !== '' || value.procedure !== '' || value.tag !== ''
  return (
    <div class="page wide">
      {newRunCount.value > 0 && runs.value !== null && (
        <div class="fresh">
          <button type="button" onClick={showNewRuns}>
            <Icon name="up" />
            {en.newItems(newRunCount.value)}
          </button>
        </div>
      )}
      <header class="list-head">
        <div class="title-row">
          <h1 class="pane-title">{en.runs}</h1>
          <span class="bulk">
            <BulkActions key={runsListHref(value)} filter={value} onDone={reload} />
          </span>
        </div>
        <Filters value={value} />
      </header>
      {runs.value === null ? (
        <NotLoaded failure={runsFailure.value} onRetry={reload} />
      ) : (
        <RunList runs={runs.value} isFiltered={isFiltered} />
      )}
      {hasMoreRuns.value && (
        <footer class="list-foot">
          <button type="button" onClick={() => void loadMoreRuns()}>
            {en.loadMore}
          </button>
        </footer>
      )}
    </div>
  )
}

function Filters({ value }: { readonly value: RunFilter }) {
  const change = (part: Partial<RunFilter>) => go(runsListHref({ ...value, ...part }))
  return (
    <div class="filters">
      <fieldset class="tabs">
        <legend class="hidden">{en.statusFilter}</legend>
        {tabs.map((status) => (
          <button
            key={status}
            type="button"
            class="toggle"
            aria-pressed={value.status === status ? 'true' : 'false'}
            onClick={() => change({ status })}
          >
            {status === '' ? en.allRuns : en.runStatuses[status]}
          </button>
        ))}
      </fieldset>
      <div class="searches">
        {(['procedure', 'tag'] as const).map((name) => (
          <FilterText
            key={name}
            label={en[`${name}Filter`]}
            value={value[name]}
            onChange={(text) => change({ [name]: text })}
          />
        ))}
      </div>
    </div>
  )
}

interface FilterTextProps {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
}

/** A text that filters once it is entered. Local state, so that a refresh does not overwrite what is being typed. */
function FilterText({ label, value, onChange }: FilterTextProps) {
  const [typed, setTyped] = useState(value)
  useEffect(() => setTyped(value), [value])
  return (
    <input
      class="filter-text"
      type="search"
      aria-label={label}
      placeholder={label}
      value={typed}
      onInput={(event) => setTyped(event.currentTarget.value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function RunList({ runs, isFiltered }: { readonly runs: readonly Run[]; readonly isFiltered: boolean }) {
  if (runs.length === 0)
    return (
      <Empty title={isFiltered ? en.noRunsFound : en.noRuns} icon="runs">
        {!isFiltered && <p class="faint">{en.noRunsHelp}</p>}
      </Empty>
    )
  return (
    <ul class="runs">
      {runs.map((run, index) => (
        <li key={run.id}>
          <a class="run-row" href={runHref(run.id)} tabIndex={index === 0 ? 0 : -1} data-row>
            <StatusBadge run={run} />
            <span class="run-id clip">
              <Text>{run.id}</Text>
            </span>
            <span class="run-procedure clip faint">
              <Text>{run.procedure}</Text> {en.version(run.version)}
            </span>
            <span class="run-note clip faint">
              <Note run={run} />
            </span>
            <span class="run-age number faint" title={formatInstant(run.startedAt)}>
              {run.endedAt === undefined
                ? en.ago(formatAge(sinceNow(run.startedAt)))
                : en.took(formatSpan(serverTime(run.endedAt) - serverTime(run.startedAt)))}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function Note({ run }: { readonly run: Run }) {
  if (run.failure) return <Text>{shortFailure(run.failure).slice(0, 300)}</Text>
  if (run.progress) return <ProgressBar progress={run.progress} />
  const [first, ...others] = run.waitingFor
  if (!first) return null
  return (
    <>
      {en.waitingKinds[first.kind]}: <Text>{first.name}</Text>
      {others.length > 0 && ` +${others.length}`}
    </>
  )
}
