import type { Run } from '@pawl/server/internal'
import { batch, computed, effect, signal } from '@preact/signals'
import { listRuns } from '../api/calls.ts'
import { failureOf, type LoadFailure } from '../load/failure.ts'
import { route } from '../router.ts'
import { noteEnded } from '../session.ts'
import { queryOf } from './bulk.ts'
import { readRunFilter, runFilter, runsListHref } from './filter.ts'

// The list outlives its screen, so it is the same after a visit to a run.

const pageSize = 50

/** The runs on the page; null before the first are read. They keep their places. */
export const runs = signal<readonly Run[] | null>(null)
export const runsFailure = signal<LoadFailure | null>(null)
const fresh = signal<readonly Run[]>([])
const cursor = signal<string | undefined>(undefined)
export const hasMoreRuns = computed(() => cursor.value !== undefined)
export const newRunCount = computed(() => {
  const known = new Set(runs.value?.map(({ id }) => id))
  return fresh.value.filter(({ id }) => !known.has(id)).length
})

// The list of another filter begins anew.
effect(() => {
  const { screen, query } = route.value
  if (screen !== 'runs') return
  const next = readRunFilter(query)
  if (runsListHref(next) === runsListHref(runFilter.peek())) return
  batch(() => {
    runFilter.value = next
    runs.value = null
    runsFailure.value = null
    fresh.value = []
    cursor.value = undefined
  })
})

/** Reads the newest runs of the filter. Those on the page change in place; new ones wait for a button. */
export async function refreshRuns(): Promise<void> {
  const of = runFilter.value
  try {
    const page = await listRuns({ ...queryOf(of), limit: pageSize })
    if (runFilter.value !== of) return
    batch(() => {
      const { value: before } = runs
      fresh.value = page.items
      runs.value = before === null || before.length === 0 ? page.items : updated(before, page.items)
      if (before === null) cursor.value = page.cursor
      runsFailure.value = null
    })
  } catch (error) {
    noteEnded(error)
    if (runFilter.value === of) runsFailure.value = failureOf(error)
  }
}

export async function loadMoreRuns(): Promise<void> {
  const of = runFilter.value
  const page = await listRuns({ ...queryOf(of), limit: pageSize, cursor: cursor.value }).catch(noteEnded)
  if (!page || runFilter.value !== of) return
  batch(() => {
    runs.value = [...(runs.value ?? []), ...page.items]
    cursor.value = page.cursor
  })
}

export function showNewRuns(): void {
  runs.value = fresh.value
}

function updated(before: readonly Run[], now: readonly Run[]): readonly Run[] {
  const byId = new Map(now.map((run) => [run.id, run]))
  return before.map((run) => byId.get(run.id) ?? run)
}
