import type { Run, RunStatus } from '@pawl/server/internal'
import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import { listRuns } from '../api/calls.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { runHref } from '../router.ts'
import { queryOf, type RunFilter } from '../runs/bulk.ts'
import { BulkActions } from '../runs/bulk-actions.tsx'
import { ProgressBar } from '../runs/progress.tsx'
import { noteEnded } from '../session.ts'
import { Text } from '../text/text.tsx'
import { StatusBadge } from '../ui/badges.tsx'
import { Empty, Loading } from '../ui/empty.tsx'
import { Icon } from '../ui/icons.tsx'
import { formatAge, formatInstant, formatSpan, serverTime, sinceNow } from '../ui/time.ts'

/** Kept while a run is looked at, so that the way back leads to the same list. */
const filter = signal<RunFilter>({ status: '', procedure: '', tag: '' })

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
const pageSize = 50

export function RunsScreen() {
  const { value } = filter
  const { runs, newCount, isMore, reload, showNew, more } = useRuns(value)
  useEffect(() => {
    document.title = `${en.runs} · ${en.product}`
  }, [])
  return (
    <div class="page wide">
      <header class="list-head">
        <div class="title-row">
          <h1 class="pane-title">{en.runs}</h1>
          <span class="bulk">
            <BulkActions key={JSON.stringify(value)} filter={value} onDone={reload} />
          </span>
        </div>
        <Filters value={value} />
      </header>
      {newCount > 0 && runs !== null && (
        <div class="fresh">
          <button type="button" onClick={showNew}>
            <Icon name="up" />
            {en.newItems(newCount)}
          </button>
        </div>
      )}
      {runs === null ? (
        <Loading />
      ) : (
        <RunList runs={runs} isFiltered={value.status !== '' || value.procedure !== '' || value.tag !== ''} />
      )}
      {isMore && (
        <footer class="list-foot">
          <button type="button" onClick={() => void more()}>
            {en.loadMore}
          </button>
        </footer>
      )}
    </div>
  )
}

/** Reads the runs of a filter, keeps those on the page in their places, and counts the new ones. */
function useRuns(value: RunFilter) {
  const [runs, setRuns] = useState<readonly Run[] | null>(null)
  const [fresh, setFresh] = useState<readonly Run[]>([])
  const [cursor, setCursor] = useState<string | undefined>()
  const query = queryOf(value)
  useEffect(() => {
    setRuns(null)
    setFresh([])
    setCursor(undefined)
  }, [value])
  const load = async () => {
    try {
      const page = await listRuns({ ...query, limit: pageSize })
      if (filter.value !== value) return
      setFresh(page.items)
      setRuns((before) => (before === null || before.length === 0 ? page.items : updated(before, page.items)))
      setCursor((before) => before ?? page.cursor)
    } catch (error) {
      noteEnded(error)
    }
  }
  // The feed has no event for a started run, so the list is also polled.
  const reload = useLive(load, [value], { hears: () => true, liveMs: () => 5_000 })
  const more = async () => {
    const page = await listRuns({ ...query, limit: pageSize, cursor }).catch(noteEnded)
    if (!page || filter.value !== value) return
    setRuns((before) => [...(before ?? []), ...page.items])
    setCursor(page.cursor)
  }
  const known = new Set(runs?.map(({ id }) => id))
  const newCount = fresh.filter(({ id }) => !known.has(id)).length
  return { runs, newCount, isMore: cursor !== undefined, reload, showNew: () => setRuns(fresh), more }
}

function Filters({ value }: { readonly value: RunFilter }) {
  const change = (part: Partial<RunFilter>) => {
    filter.value = { ...value, ...part }
  }
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

/** Runs stay in their places; their states change in place. */
function updated(before: readonly Run[], now: readonly Run[]): readonly Run[] {
  const byId = new Map(now.map((run) => [run.id, run]))
  return before.map((run) => byId.get(run.id) ?? run)
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
      {runs.map((run) => (
        <li key={run.id}>
          <a class="run-row" href={runHref(run.id)} data-row>
            <StatusBadge status={run.status} />
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
                : formatSpan(serverTime(run.endedAt) - serverTime(run.startedAt))}
            </span>
          </a>
        </li>
      ))}
    </ul>
  )
}

function Note({ run }: { readonly run: Run }) {
  if (run.failure) return <Text>{run.failure.message.slice(0, 200)}</Text>
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
