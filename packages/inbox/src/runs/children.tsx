import type { Run } from '@pawl/server/internal'
import { useState } from 'preact/hooks'
import { listRuns } from '../api/calls.ts'
import { en } from '../en.ts'
import { useLive } from '../live/poll.ts'
import { runHref } from '../router.ts'
import { noteEnded } from '../session.ts'
import { Text } from '../text/text.tsx'
import { StatusBadge } from '../ui/badges.tsx'
import { ProgressBar } from './progress.tsx'

const pageSize = 50
/** Maximum page size of the API. */
const maxPage = 500

/** The runs that a run has created, and theirs. Nothing is shown for a run that has created none. */
export function Children({ parent }: { readonly parent: string }) {
  const { runs, more } = useChildren(parent)
  if (runs.length === 0) return null
  return (
    <section class="children">
      <h2>{en.children}</h2>
      <p class="faint">{en.childCounts(countStatuses(runs), more !== undefined)}</p>
      <Tree runs={runs} more={more} />
    </section>
  )
}

function Tree({ runs, more }: { readonly runs: readonly Run[]; readonly more: (() => void) | undefined }) {
  return (
    <ul class="tree">
      {runs.map((run) => (
        <Branch key={run.id} run={run} />
      ))}
      {more !== undefined && (
        <li>
          <button type="button" onClick={more}>
            {en.loadMore}
          </button>
        </li>
      )}
    </ul>
  )
}

/** One child; its own children are read when it is opened. */
function Branch({ run }: { readonly run: Run }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <div class="branch">
        <button
          type="button"
          class="disclosure"
          aria-expanded={isOpen ? 'true' : 'false'}
          aria-label={en.childrenOf(run.id)}
          onClick={() => setOpen(!isOpen)}
        />
        <StatusBadge status={run.status} />
        <a class="clip" href={runHref(run.id)}>
          <Text>{run.id}</Text>
        </a>
        <span class="clip faint">
          <Text>{run.procedure}</Text>
        </span>
        <ProgressBar progress={run.progress} />
      </div>
      {isOpen && <Grandchildren parent={run.id} />}
    </li>
  )
}

function Grandchildren({ parent }: { readonly parent: string }) {
  const { runs, more, isLoaded } = useChildren(parent)
  if (runs.length > 0) return <Tree runs={runs} more={more} />
  return isLoaded ? <p class="faint tree">{en.noChildren}</p> : null
}

interface Loaded {
  readonly runs: readonly Run[]
  readonly cursor: string | undefined
}

/** Reads the children of a run, newest first, and again while the page is live. */
function useChildren(parent: string): {
  readonly runs: readonly Run[]
  readonly more: (() => void) | undefined
  readonly isLoaded: boolean
} {
  const [loaded, setLoaded] = useState<Loaded | null>(null)
  const count = loaded?.runs.length ?? 0
  const load = async () => {
    const limit = Math.min(maxPage, Math.max(pageSize, count))
    const page = await listRuns({ parent, limit }).catch(noteEnded)
    if (!page) return
    setLoaded((before) => {
      const older = olderThan(before?.runs ?? [], page.items)
      return { runs: [...page.items, ...older], cursor: older.length > 0 ? before?.cursor : page.cursor }
    })
  }
  useLive(load, [parent], { hears: () => true, liveMs: () => 5_000 })
  const readMore = async () => {
    const page = await listRuns({ parent, limit: pageSize, cursor: loaded?.cursor }).catch(noteEnded)
    if (page) setLoaded((before) => ({ runs: [...(before?.runs ?? []), ...page.items], cursor: page.cursor }))
  }
  return {
    runs: loaded?.runs ?? [],
    more: loaded?.cursor === undefined ? undefined : () => void readMore(),
    isLoaded: loaded !== null,
  }
}

/** The runs that were read before and are not on the newest page. */
function olderThan(before: readonly Run[], page: readonly Run[]): readonly Run[] {
  const known = new Set(page.map(({ id }) => id))
  return before.filter(({ id }) => !known.has(id))
}

function countStatuses(runs: readonly Run[]): readonly (readonly [Run['status'], number])[] {
  const counts = new Map<Run['status'], number>()
  for (const { status } of runs) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts]
}
