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
const brokenStatuses = ['failed', 'stuck', 'quarantined'] as const
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
        <StatusBadge run={run} />
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
  /** Newest first. */
  readonly runs: readonly Run[]
  /** Children that need an operator, also from later pages. */
  readonly broken: readonly Run[]
  readonly cursor: string | undefined
}

/** Reads the children of a run, and again while the page is live: first the ones that need an operator, then the newest. */
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
    const isWhole = page.cursor === undefined
    const broken = isWhole
      ? page.items.filter(isBroken)
      : (await listRuns({ parent, status: brokenStatuses.join(','), limit: pageSize }).catch(noteEnded))
          ?.items
    setLoaded((before) => {
      const older = olderThan(before?.runs ?? [], page.items)
      return {
        runs: [...page.items, ...older],
        broken: broken ?? [],
        cursor: older.length > 0 ? before?.cursor : page.cursor,
      }
    })
  }
  useLive(load, [parent], { hears: () => true, liveMs: () => 5_000 })
  const readMore = async () => {
    const page = await listRuns({ parent, limit: pageSize, cursor: loaded?.cursor }).catch(noteEnded)
    if (!page) return
    setLoaded((before) => ({
      runs: [...(before?.runs ?? []), ...page.items],
      broken: before?.broken ?? [],
      cursor: page.cursor,
    }))
  }
  const broken = loaded?.broken ?? []
  return {
    runs: [...broken, ...olderThan(loaded?.runs ?? [], broken)],
    more: loaded?.cursor === undefined ? undefined : () => void readMore(),
    isLoaded: loaded !== null,
  }
}

function isBroken({ status }: Run): boolean {
  return brokenStatuses.some((one) => one === status)
}

/** The runs that were read before and are not on this page. */
function olderThan(before: readonly Run[], page: readonly Run[]): readonly Run[] {
  const known = new Set(page.map(({ id }) => id))
  return before.filter(({ id }) => !known.has(id))
}

function countStatuses(runs: readonly Run[]): readonly (readonly [Run['status'], number])[] {
  const counts = new Map<Run['status'], number>()
  for (const { status } of runs) counts.set(status, (counts.get(status) ?? 0) + 1)
  return [...counts]
}
