import type { AskBrief } from '@pawl/server/internal'
import { batch, computed, effect, signal } from '@preact/signals'
import { listAsks } from '../api/calls.ts'
import { en } from '../en.ts'
import { announce } from '../live/announce.ts'
import { failureOf, type LoadFailure } from '../load/failure.ts'
import { route } from '../router.ts'
import { noteEnded } from '../session.ts'
import { askQueryOf, type Filter, filter, isSameFilter, noFilter, readFilter } from './filter.ts'

/** The asks on the screen. They are reordered only on request. */
export const shown = signal<readonly AskBrief[]>([])
/** Ids on the screen that are no longer in the list of the server. */
export const gone = signal<ReadonlySet<string>>(new Set())
/** The list as the server has it, where it holds asks that are not on the screen. */
const fresh = signal<readonly AskBrief[]>([])
export const newCount = computed(() => {
  const known = new Set(shown.value.map(({ id }) => id))
  return fresh.value.filter(({ id }) => !known.has(id)).length
})
export const hasMore = signal(false)
export const isLoaded = signal(false)
/** Why the list could not be read; null once it was. */
export const listFailure = signal<LoadFailure | null>(null)
export const isFiltered = computed(() => {
  const { whose, status } = filter.value
  return !isSameFilter(filter.value, { ...noFilter, whose, status })
})

const pageSize = 50
let cursor: string | undefined
let wanted = pageSize

/** Reads the list again. What is on the screen stays in its place; what is new waits for a button. */
export async function refreshAsks(): Promise<void> {
  const asked = filter.value
  try {
    const { items, cursor: next } = await readAsks({ ...askQueryOf(asked), limit: Math.min(500, wanted) })
    if (filter.value !== asked) return
    batch(() => {
      merge(items, next)
      listFailure.value = null
    })
  } catch (error) {
    noteEnded(error)
    listFailure.value = failureOf(error)
  }
}

function merge(items: readonly AskBrief[], next: string | undefined): void {
  const isFirst = !isLoaded.value
  isLoaded.value = true
  const before = newCount.value
  // Beyond the first 500 the list is read in pages, and only its beginning is compared.
  if (shown.value.length <= 500) {
    cursor = next
    hasMore.value = next !== undefined
  }
  const byId = new Map(items.map((ask) => [ask.id, ask]))
  fresh.value = items
  if (isFirst || shown.value.length === 0 || isUnchanged(items)) {
    shown.value = items
    gone.value = new Set()
    return
  }
  const last = items.at(-1)
  const isWhole = next === undefined || last === undefined
  shown.value = shown.value.map((ask) => byId.get(ask.id) ?? ask)
  if (isWhole || shown.value.length <= items.length)
    gone.value = new Set(shown.value.filter(({ id }) => !byId.has(id)).map(({ id }) => id))
  if (newCount.value > before) announce(en.newAnnounced(newCount.value))
}

function isUnchanged(items: readonly AskBrief[]): boolean {
  return items.length === shown.value.length && items.every(({ id }, index) => shown.value[index]?.id === id)
}

/** Shows the list as it is now: the "3 new" button. */
export function showFresh(): void {
  batch(() => {
    shown.value = fresh.value
    gone.value = new Set()
  })
}

/** Many asks may lie between two that a filter finds: a page can be empty and not the last one. */
async function readAsks(query: Parameters<typeof listAsks>[0]): ReturnType<typeof listAsks> {
  const { value: of } = filter
  for (let next = query['cursor']; ; ) {
    const page = await listAsks({ ...query, cursor: next })
    if (page.items.length > 0 || page.cursor === undefined || filter.value !== of) return page
    next = page.cursor
  }
}

export async function loadMoreAsks(): Promise<void> {
  if (cursor === undefined) return
  try {
    const { items, cursor: next } = await readAsks({ ...askQueryOf(filter.value), limit: pageSize, cursor })
    cursor = next
    const known = new Set(shown.value.map(({ id }) => id))
    batch(() => {
      hasMore.value = next !== undefined
      shown.value = [...shown.value, ...items.filter((ask) => !known.has(ask.id))]
      fresh.value = [...fresh.value, ...items]
      wanted = Math.max(wanted, shown.value.length)
    })
  } catch (error) {
    noteEnded(error)
  }
}

// The list of another filter begins anew. An address of an ask without a filter leaves the list as it is.
effect(() => {
  const { screen, query } = route.value
  const isList = screen === 'inbox' || (screen === 'ask' && Object.keys(query).length > 0)
  if (isList && !isSameFilter(readFilter(query), filter.peek())) begin(readFilter(query))
})

function begin(next: Filter): void {
  wanted = pageSize
  batch(() => {
    filter.value = next
    shown.value = []
    gone.value = new Set()
    fresh.value = []
    isLoaded.value = false
    listFailure.value = null
  })
}

/** The ask after this one that is still open, else the first that is. */
export function nextOpen(id: string): string | null {
  const list = shown.value
  const at = list.findIndex((ask) => ask.id === id)
  const ordered = [...list.slice(at + 1), ...list.slice(0, Math.max(0, at))]
  return ordered.find((ask) => ask.id !== id && ask.status === 'open' && !gone.value.has(ask.id))?.id ?? null
}
